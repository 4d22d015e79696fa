#include "gpilot/report/page.hpp"

#include "gpilot/core/error.hpp"

namespace gpilot::report {

namespace {
constexpr std::string_view kMark = "@gpilot-record@";
}

void require_page() {
  if (web_assets().page.empty()) {
    throw InputError(
        "this program was built without its page (Node.js was missing, or GPILOT_WEB was OFF): install nodejs and "
        "npm, build again, or take the data with 'gpilot report --record'");
  }
}

std::string page(const Json& record) {
  require_page();
  const std::string_view text = web_assets().page;
  const std::size_t mark = text.find(kMark);
  std::string result(text.substr(0, mark));
  result += embeddable(record);
  result += text.substr(mark + kMark.size());
  return result;
}

}  // namespace gpilot::report
