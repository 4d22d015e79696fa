#pragma once

#include <string>
#include <string_view>

#include "gpilot/report/numbers.hpp"

/// The page that shows a record: built from web/ and kept inside the program.
namespace gpilot::report {

/// What the build made of web/; all empty where it was built without Node.
struct WebAssets {
  std::string_view page;    ///< an HTML file that holds all it needs, with a mark where the record goes
  std::string_view live;    ///< the same page for a server, which gives it the next two and the record
  std::string_view script;  ///< JavaScript
  std::string_view style;   ///< CSS
};
const WebAssets& web_assets();

/// Throws InputError where the program was built without the page, and says what to do about it.
void require_page();

/// One HTML file that shows the record without anything else.
std::string page(const Json& record);

}  // namespace gpilot::report
