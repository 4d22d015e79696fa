"""FMUs of FMI 2 and 3, built here from fmu_tank.c: FMPy loads a shared library, as it does of any tool."""

from __future__ import annotations

import platform
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gpilot
from gpilot import rigs

FMI2 = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="tank" guid="{tank}" generationTool="tests" numberOfEventIndicators="0">
  <CoSimulation modelIdentifier="tank" canHandleVariableCommunicationStepSize="true"/>
  <DefaultExperiment startTime="0" stopTime="10" stepSize="0.2"/>
  <ModelVariables>
    <ScalarVariable name="valve" valueReference="1" causality="input" variability="continuous">
      <Real start="0" min="0" max="2"/>
    </ScalarVariable>
    <ScalarVariable name="level" valueReference="2" causality="output" variability="continuous" initial="calculated">
      <Real/>
    </ScalarVariable>
    <ScalarVariable name="gain" valueReference="3" causality="parameter" variability="tunable">
      <Real start="1"/>
    </ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="2"/></Outputs>
    <InitialUnknowns><Unknown index="2"/></InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"""
FMI3 = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="tank" instantiationToken="{tank}" generationTool="tests">
  <CoSimulation modelIdentifier="tank" canHandleVariableCommunicationStepSize="true"/>
  <DefaultExperiment startTime="0" stopTime="10" stepSize="0.2"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Float64 name="valve" valueReference="1" causality="input" variability="continuous" start="0" min="0" max="2"/>
    <Float64 name="level" valueReference="2" causality="output" variability="continuous" initial="calculated"/>
    <Float64 name="gain" valueReference="3" causality="parameter" variability="tunable" start="1"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="2"/>
    <InitialUnknown valueReference="2"/>
  </ModelStructure>
</fmiModelDescription>
"""


def build(folder: Path, version: int) -> Path:
    library = folder / "tank.so"
    source = Path(__file__).with_name("fmu_tank.c")
    define = ["-DFMI3"] if version == 3 else []
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", *define, source, "-o", library, "-lm"], check=True)
    place = "linux64" if version == 2 else f"{platform.machine()}-linux"
    path = folder / f"tank{version}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", FMI2 if version == 2 else FMI3)
        archive.write(library, f"binaries/{place}/tank.so")
    return path


@pytest.fixture(scope="module", params=[2, 3], ids=["FMI 2", "FMI 3"])
def fmu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("fmu"), request.param)


def tank(level: float, valve: float, gain: float = 1.0) -> float:
    for _ in range(10):
        level += 0.02 * (gain * valve - np.sqrt(max(level, 0.0)))
    return level


def test_steps_are_those_of_the_model(fmu: Path) -> None:
    with rigs.FMU(fmu) as rig:
        assert rig.dt == 0.2
        assert [channel.name for channel in rig.inputs] == ["valve"]
        assert (rig.inputs[0].low, rig.inputs[0].high) == (0.0, 2.0)
        assert rig.reset() == pytest.approx([0.25])
        level = 0.25
        for valve in (1.0, 0.3, 2.0):
            level = tank(level, valve)
            assert rig.step(np.array([valve])).outputs == pytest.approx([level], rel=1e-12)
        assert rig.reset() == pytest.approx([0.25])
    with rigs.FMU(fmu, start_values={"gain": 3.0}, dt=0.2) as rig:
        assert rig.step(np.array([1.0])).outputs == pytest.approx([tank(0.25, 1.0, 3.0)])


def test_exploration(fmu: Path) -> None:
    with rigs.FMU(fmu, ranges={"level": (0.0, 4.0)}, noise=0.01) as rig:
        explorer = gpilot.Explorer(rig.config(initial=4, training={"rounds": 3, "polish": 10, "noise_path": 0}))
        model = explorer.run(rig, 12)
        assert model is not None
        assert model.inputs == ["valve"]


def test_wrong_names(fmu: Path) -> None:
    with pytest.raises(ValueError, match="no variable 'pump'"):
        rigs.FMU(fmu, inputs=["pump"])
    with pytest.raises(ValueError, match="no variable 'leak'"):
        rigs.FMU(fmu, start_values={"leak": 1.0})
