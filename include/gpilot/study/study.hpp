#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpilot/core/types.hpp"
#include "gpilot/ssm/data.hpp"
#include "gpilot/study/config.hpp"
#include "gpilot/study/record.hpp"

/// Ask and tell for a system whose state carries over and whose steps cannot be repeated. A study is one file: its
/// configuration, every control that was asked for, everything that came back, and the models learned on the way.
///
///   Study study = Study::create("rig.study", config_text, "rig.toml");
///   const Step step = study.ask();           // trains if it is due, then chooses
///   study.tell(step.id, outputs);            // on the disk when it returns
///
/// What a study decides is decided by an explore::Explorer, which is told all that the file holds: what it does next
/// depends on its file alone. However often the process ends in between, and with any number of threads, the same
/// outputs lead to the same controls, bit for bit. User units everywhere. Not for use by several
/// threads at once.
namespace gpilot::study {

/// A control to apply: choice.control lies in the box, and within the slew limits of what was applied before.
struct Step {
  Index id = 0;        ///< from 1, over the whole study
  Index sequence = 0;  ///< from 1
  plan::Choice choice;
};

/// What became of outputs that were told.
enum class Told {
  kAccepted,
  kRepeated,  ///< the step has been told the very same before
  kLate,      ///< the step had been given up: the outputs are kept, but not learned from
};

class Study {
 public:
  /// Makes a new study of a configuration (TOML text; `name` is the file's, for messages). InputError if the file
  /// exists or the configuration is wrong. `before` is called when all that has been checked and no other process can
  /// make or write this study any more; the file is made once it returns, and not at all if it throws.
  static Study create(const std::string& path, const std::string& config, const std::string& name,
                      const std::function<void()>& before = {});
  /// Opens a study. One process at a time may write: StudyBusy names the one that does. Readers see what was stored
  /// when they opened it. StoreError names the step whose checksum says that something has changed it on the disk.
  static Study open(const std::string& path, Access access = Access::kWrite);
  ~Study();
  Study(Study&&) noexcept;
  Study& operator=(Study&&) = delete;
  Study(const Study&) = delete;
  Study& operator=(const Study&) = delete;

  /// The next control; the step waits for tell() or fail(). Asked again before that, it is the same step. A sequence
  /// that ended is followed by a new one, which begins anywhere (see new_sequence()). Trains first where that is due,
  /// unless `train` is false: then the newest model decides.
  Step ask(bool train = true);
  /// What ask() would return, with nothing asked.
  Step suggest(bool train = true);
  /// What came back: outputs [E] (NaN = missing), the control that was applied [P] if it is not the one asked for, and
  /// the rig's time in s. On the disk when this returns. InputError, with nothing changed, for wrong shapes or values,
  /// a step that was never asked, or other outputs than those told before.
  Told tell(Index id, VectorRef outputs, const std::optional<Vector>& applied = {}, std::optional<double> time = {});
  /// The step has no outputs: `status` is kFailed, kUnsafe or kUnknown. Its sequence ends, since nobody knows the
  /// state.
  void fail(Index id, StepStatus status, const std::string& reason);
  /// The step was never sent, so its sequence goes on. Its status is kFailed.
  void withdraw(Index id, const std::string& reason);
  /// A step that was told is no longer learned from: its outputs count as missing, what was applied stays. Models that
  /// had learned from it decide no more; the next ask() trains. The same twice counts once. Returns whether anything
  /// changed. InputError for a step without outputs. A training that began before must not be adopted after this.
  bool void_step(Index id, const std::string& why);
  /// Other outputs [E] for a step that was told or voided, and another control [P] if one is given. The old ones stay
  /// on record (corrections()). Otherwise like void_step().
  bool correct(Index id, VectorRef outputs, const std::optional<Vector>& applied, const std::string& why);
  /// The outputs of the first row of a sequence, by its number, are no longer learned from. Like void_step().
  bool void_start(Index id, const std::string& why);
  /// Begins a sequence: kReset if the system was brought to the declared p(x_0), kBroken if its state may be anything.
  /// `outputs` [E], measured before the first step, may be missing (NaN, or empty).
  void new_sequence(SequenceOrigin origin, const Vector& outputs, const std::string& reason);
  /// Ends the current sequence, if there is one: the system is left to itself.
  void end_sequence();
  /// Adds a step under the safe control, which was applied since no decision was ready. Like a step that was asked and
  /// told.
  void add_safe_step(VectorRef applied, VectorRef outputs, const std::string& reason);
  /// Adds measurements made before as a sequence of its own and ends the current one. Returns the number of steps.
  Index import(const ssm::Sequence& recording);

  /// Takes another configuration that leads to the same results: rig, name, number of steps, of kept models, of
  /// threads. InputError, with all that differs, for any other.
  void reconfigure(const std::string& config, const std::string& name);
  /// Does all that `work` does with this study, or nothing, in one write to the disk instead of several: nothing is on
  /// the disk before this returns. After an error the study is as it was before.
  void transaction(const std::function<void()>& work);

  /// What the next training would learn from, if one is due.
  std::optional<explore::TrainingJob> due_training() const;
  /// Takes the result of train(due_training()): the newest model decides from now on. Throws InputError where something
  /// that it learned from was corrected since the training began: nothing of it is kept.
  void adopt(const explore::TrainingResult& result);
  /// Trains if it is due.
  void update();

  /// When `*stop` becomes true, ask(), suggest() and update() end with Cancelled, and the file is as it was before.
  /// Null: never. It must outlive the calls.
  void set_stop(const std::atomic<bool>* stop);

  const std::string& path() const;
  const StudyConfig& config() const;
  const std::string& config_text() const;
  const std::string& created_at() const;
  /// The newest model, or null.
  const std::shared_ptr<const ssm::Model>& model() const;
  /// All sequences with at least one step that was told.
  const ssm::Dataset& data() const;
  const std::vector<StepRecord>& steps() const;  ///< step k at k - 1
  const std::vector<SequenceRecord>& sequences() const;
  const std::vector<TrainingRecord>& trainings() const;
  const std::vector<CorrectionRecord>& corrections() const;
  std::vector<SessionRecord> sessions() const;
  /// The model of the newest training on no step after `step`; null if there was none. One that the file no longer
  /// holds is trained again, and all before it that it builds on: the same bits, unless a step was corrected since.
  std::shared_ptr<const ssm::Model> model_at(Index step) const;
  /// Calls `visit` with every model that still counts, in the order of the trainings: those that the file holds, or,
  /// to `train_again`, all of them, which takes as long as it did then. Ends early once `visit` returns false.
  void each_model(
      bool train_again,
      const std::function<bool(const TrainingRecord&, const std::shared_ptr<const ssm::Model>&)>& visit) const;
  /// Damage that costs nothing but time, in words: a model that has to be trained again.
  const std::vector<std::string>& warnings() const;
  Index late_tells() const;
  /// The step that waits, or null.
  const StepRecord* pending() const;
  /// The sequence that the next step belongs to, or null if it will begin one.
  const SequenceRecord* current_sequence() const;
  Index told() const;  ///< number of steps with outputs
  /// Why nothing more needs to be measured, in words: the newest step was chosen by a model that is as sure as until_sd
  /// asks. "" if that is not so. Whoever runs the study withdraws such a step instead of applying it.
  std::string sure_enough() const;
  /// The process that held the study and died, if the lock was taken over from one; else "".
  const std::string& taken_over_from() const;

 private:
  struct State;
  explicit Study(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Whether the file is an SQLite database, so that it may be a study.
bool is_study(const std::string& path);

}  // namespace gpilot::study
