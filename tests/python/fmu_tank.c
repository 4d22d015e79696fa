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

#ifdef FMI3
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
