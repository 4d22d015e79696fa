/* A tank as a co-simulation FMU: level' = valve - sqrt(level), Euler's rule. Compiled for FMI 2 and, with -DFMI3, for
   FMI 3. Only what FMPy calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double valve, level, gain;
} Tank;

static double* variable(Tank* tank, unsigned reference) {
  return reference == 1 ? &tank->valve : reference == 2 ? &tank->level : &tank->gain;
}

static void advance(Tank* tank, double step) {
  for (int k = 0; k < 10; ++k) {
    const double level = tank->level > 0 ? tank->level : 0;
    tank->level += step / 10 * (tank->gain * tank->valve - sqrt(level));
  }
}

static Tank* make(void) {
  Tank* tank = calloc(1, sizeof(Tank));
  tank->level = 0.25;
  tank->gain = 1.0;
  return tank;
}

static int get(Tank* tank, const unsigned* references, size_t n, double* values) {
  for (size_t k = 0; k < n; ++k) values[k] = *variable(tank, references[k]);
  return 0;
}

static int set(Tank* tank, const unsigned* references, size_t n, const double* values) {
  for (size_t k = 0; k < n; ++k) *variable(tank, references[k]) = values[k];
  return 0;
}

/* FMPy looks for every function; these are not called. */
#define STUB(name) \
  int name(void) { return 3; }

#ifdef FMI3
/* clang-format off */
STUB(fmi3ActivateModelPartition) STUB(fmi3CompletedIntegratorStep) STUB(fmi3DeserializeFMUState)
STUB(fmi3EnterConfigurationMode) STUB(fmi3EnterContinuousTimeMode) STUB(fmi3EnterEventMode) STUB(fmi3EnterStepMode)
STUB(fmi3EvaluateDiscreteStates) STUB(fmi3ExitConfigurationMode) STUB(fmi3FreeFMUState) STUB(fmi3GetAdjointDerivative)
STUB(fmi3GetBinary) STUB(fmi3GetBoolean) STUB(fmi3GetClock) STUB(fmi3GetContinuousStateDerivatives)
STUB(fmi3GetContinuousStates) STUB(fmi3GetDirectionalDerivative) STUB(fmi3GetEventIndicators) STUB(fmi3GetFMUState)
STUB(fmi3GetFloat32) STUB(fmi3GetInt16) STUB(fmi3GetInt32) STUB(fmi3GetInt64) STUB(fmi3GetInt8)
STUB(fmi3GetIntervalDecimal) STUB(fmi3GetIntervalFraction) STUB(fmi3GetNominalsOfContinuousStates)
STUB(fmi3GetNumberOfContinuousStates) STUB(fmi3GetNumberOfEventIndicators) STUB(fmi3GetNumberOfVariableDependencies)
STUB(fmi3GetOutputDerivatives) STUB(fmi3GetShiftDecimal) STUB(fmi3GetShiftFraction) STUB(fmi3GetString)
STUB(fmi3GetUInt16) STUB(fmi3GetUInt32) STUB(fmi3GetUInt64) STUB(fmi3GetUInt8) STUB(fmi3GetVariableDependencies)
STUB(fmi3InstantiateModelExchange) STUB(fmi3InstantiateScheduledExecution) STUB(fmi3SerializeFMUState)
STUB(fmi3SerializedFMUStateSize) STUB(fmi3SetBinary) STUB(fmi3SetBoolean) STUB(fmi3SetClock)
STUB(fmi3SetContinuousStates) STUB(fmi3SetDebugLogging) STUB(fmi3SetFMUState) STUB(fmi3SetFloat32) STUB(fmi3SetInt16)
STUB(fmi3SetInt32) STUB(fmi3SetInt64) STUB(fmi3SetInt8) STUB(fmi3SetIntervalDecimal) STUB(fmi3SetIntervalFraction)
STUB(fmi3SetShiftDecimal) STUB(fmi3SetShiftFraction) STUB(fmi3SetString) STUB(fmi3SetTime) STUB(fmi3SetUInt16)
STUB(fmi3SetUInt32) STUB(fmi3SetUInt64) STUB(fmi3SetUInt8) STUB(fmi3UpdateDiscreteStates)
/* clang-format on */
void* fmi3InstantiateCoSimulation(const char* name, const char* token, const char* resources, int visible, int log,
                                  int events, int early, const unsigned* intermediate, size_t n, void* environment,
                                  void* logger, void* update) {
  return make();
}
int fmi3EnterInitializationMode(void* c, int has_tolerance, double tolerance, double start, int has_stop, double stop) {
  return 0;
}
int fmi3ExitInitializationMode(void* c) { return 0; }
int fmi3Terminate(void* c) { return 0; }
int fmi3Reset(void* c) { return 0; }
void fmi3FreeInstance(void* c) { free(c); }
const char* fmi3GetVersion(void) { return "3.0"; }
int fmi3SetFloat64(void* c, const unsigned* r, size_t n, const double* v, size_t m) { return set(c, r, n, v); }
int fmi3GetFloat64(void* c, const unsigned* r, size_t n, double* v, size_t m) { return get(c, r, n, v); }
int fmi3DoStep(void* c, double now, double step, int no_set, int* event, int* terminate, int* early, double* last) {
  advance(c, step);
  *event = *terminate = *early = 0;
  *last = now + step;
  return 0;
}
#else
/* clang-format off */
STUB(fmi2CancelStep) STUB(fmi2CompletedIntegratorStep) STUB(fmi2DeSerializeFMUstate) STUB(fmi2EnterContinuousTimeMode)
STUB(fmi2EnterEventMode) STUB(fmi2FreeFMUstate) STUB(fmi2GetBoolean) STUB(fmi2GetBooleanStatus)
STUB(fmi2GetContinuousStates) STUB(fmi2GetDerivatives) STUB(fmi2GetDirectionalDerivative) STUB(fmi2GetEventIndicators)
STUB(fmi2GetFMUstate) STUB(fmi2GetInteger) STUB(fmi2GetIntegerStatus) STUB(fmi2GetNominalsOfContinuousStates)
STUB(fmi2GetRealOutputDerivatives) STUB(fmi2GetRealStatus) STUB(fmi2GetStatus) STUB(fmi2GetString)
STUB(fmi2GetStringStatus) STUB(fmi2NewDiscreteStates) STUB(fmi2SerializeFMUstate) STUB(fmi2SerializedFMUstateSize)
STUB(fmi2SetBoolean) STUB(fmi2SetContinuousStates) STUB(fmi2SetDebugLogging) STUB(fmi2SetFMUstate)
STUB(fmi2SetInteger) STUB(fmi2SetRealInputDerivatives) STUB(fmi2SetString) STUB(fmi2SetTime)
/* clang-format on */
void* fmi2Instantiate(const char* name, int type, const char* guid, const char* resources, const void* functions,
                      int visible, int log) {
  return make();
}
int fmi2SetupExperiment(void* c, int has_tolerance, double tolerance, double start, int has_stop, double stop) {
  return 0;
}
int fmi2EnterInitializationMode(void* c) { return 0; }
int fmi2ExitInitializationMode(void* c) { return 0; }
int fmi2Terminate(void* c) { return 0; }
int fmi2Reset(void* c) { return 0; }
void fmi2FreeInstance(void* c) { free(c); }
const char* fmi2GetVersion(void) { return "2.0"; }
const char* fmi2GetTypesPlatform(void) { return "default"; }
int fmi2SetReal(void* c, const unsigned* r, size_t n, const double* v) { return set(c, r, n, v); }
int fmi2GetReal(void* c, const unsigned* r, size_t n, double* v) { return get(c, r, n, v); }
int fmi2DoStep(void* c, double now, double step, int no_set) {
  advance(c, step);
  return 0;
}
#endif
