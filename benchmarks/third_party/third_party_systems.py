"""The systems that third_party_rig.py runs. Each has reset(rng), step(u, dt) and outputs(); nothing in them knows gpilot.

From Gymnasium, unchanged but for the start: pendulum, mountain-car, reacher, swimmer. From its model of the half cheetah,
with the base fixed: cheetah-leg. Own MuJoCo models of textbook systems: crane, acrobot, slider. Tanks of the literature:
quad-tank, two-tank.
"""

import math
import os

import numpy as np


def whole_steps(dt, inner):
    count = round(dt / inner)
    if count < 1 or abs(count * inner - dt) > 1e-9 * dt:
        raise ValueError(f"dt = {dt} s is no multiple of the simulation's {inner} s")
    return count


class Pendulum:
    """Pendulum-v1: a rod without friction, a torque too weak to hold it up. Starts near hanging; the angle is from there."""

    def __init__(self):
        import gymnasium

        self.env = gymnasium.make("Pendulum-v1").unwrapped
        self.env.reset(seed=0)

    def reset(self, rng):
        self.env.state = np.array([math.pi + rng.normal(0, 0.1), rng.normal(0, 0.1)])

    def step(self, u, dt):
        for _ in range(whole_steps(dt, self.env.dt)):
            self.env.step(np.asarray(u))

    def outputs(self):
        return [self.env.state[0] - math.pi]


class MountainCar:
    """MountainCarContinuous-v0: a car in a valley with a stop at its left end. A step of the environment counts as 20 ms."""

    INNER = 0.02

    def __init__(self):
        import gymnasium

        self.env = gymnasium.make("MountainCarContinuous-v0").unwrapped
        self.env.reset(seed=0)

    def reset(self, rng):
        self.env.state = np.array([rng.uniform(-0.6, -0.4), 0.0])  # as the environment does

    def step(self, u, dt):
        for _ in range(whole_steps(dt, self.INNER)):
            self.env.step(np.asarray(u))

    def outputs(self):
        return [float(self.env.state[0])]


class MujocoSystem:
    """A MuJoCo model: some actuators are driven, some joint positions are measured, the start is near `start`."""

    START_SD = 0.02

    def __init__(self, model, joints, start=None, actuators=None):
        import mujoco

        self.mujoco, self.model, self.data = mujoco, model, mujoco.MjData(model)
        self.positions = [int(model.joint(name).qposadr[0]) for name in joints]
        self.actuators = list(range(model.nu)) if actuators is None else [model.actuator(name).id for name in actuators]
        self.start = start or {}

    def reset(self, rng):
        self.mujoco.mj_resetData(self.model, self.data)
        for joint, value in self.start.items():
            self.data.qpos[self.model.joint(joint).qposadr[0]] = value
        for address in self.positions:
            self.data.qpos[address] += rng.normal(0, self.START_SD)
        self.data.qvel[:] = 0.0
        self.mujoco.mj_forward(self.model, self.data)

    def step(self, u, dt):
        self.data.ctrl[self.actuators] = u
        self.mujoco.mj_step(self.model, self.data, nstep=whole_steps(dt, self.model.opt.timestep))

    def outputs(self):
        return self.data.qpos[self.positions]


def gymnasium_model(file):
    import gymnasium
    import mujoco

    folder = os.path.join(os.path.dirname(gymnasium.__file__), "envs", "mujoco", "assets")
    return mujoco.MjSpec.from_file(os.path.join(folder, file))


def reacher():
    """Reacher-v5: two links in a plane, a motor in each joint."""
    return MujocoSystem(gymnasium_model("reacher.xml").compile(), ["joint0", "joint1"], actuators=None)


def swimmer():
    """Swimmer-v5: three links in a viscous fluid, two motors. Its joints are measured, its body's motion is not."""
    return MujocoSystem(gymnasium_model("swimmer.xml").compile(), ["motor1_rot", "motor2_rot"])


def cheetah_leg():
    """The back leg of HalfCheetah-v5, its base fixed: springs, dampers and stops; the foot moves by itself."""
    spec = gymnasium_model("half_cheetah.xml")
    for joint in ("rootx", "rootz", "rooty"):
        body_joint = next(j for j in spec.joints if j.name == joint)
        spec.delete(body_joint)
    return MujocoSystem(spec.compile(), ["bthigh", "bshin"], actuators=["bthigh", "bshin"])


def mujoco_text(text):
    import mujoco

    return mujoco.MjModel.from_xml_string(text)


CRANE = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.005" integrator="RK4"/>
  <worldbody>
    <body name="cart">
      <joint name="cart" type="slide" axis="1 0 0" damping="2" range="-2 2" limited="true"/>
      <geom type="box" size=".1 .05 .05" mass="1"/>
      <body name="load" pos="0 0 0">
        <joint name="swing" type="hinge" axis="0 1 0" damping=".02"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.6" size=".01" mass=".05"/>
        <geom type="sphere" pos="0 0 -.6" size=".05" mass=".4"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="cart" body2="load"/></contact>
  <actuator><motor joint="cart" gear="1"/></actuator>
</mujoco>
"""

ACROBOT = """
<mujoco>
  <compiler angle="radian"/>
  <option timestep="0.005" integrator="RK4"/>
  <worldbody>
    <body name="upper" pos="0 0 0">
      <joint name="shoulder" type="hinge" axis="0 1 0" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass=".5"/>
      <body name="lower" pos="0 0 -.5">
        <joint name="elbow" type="hinge" axis="0 1 0" damping=".1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02" mass=".5"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="upper" body2="lower"/></contact>
  <actuator><motor joint="elbow" gear="1"/></actuator>
</mujoco>
"""

SLIDER = """
<mujoco>
  <option timestep="0.002" integrator="implicitfast"/>
  <worldbody>
    <body name="slider">
      <joint name="slider" type="slide" axis="1 0 0" stiffness="8" damping=".6" frictionloss=".3" range="-.35 10"
             limited="true" solreflimit=".02 .3"/>
      <geom type="box" size=".05 .05 .05" mass=".5"/>
    </body>
  </worldbody>
  <actuator><motor joint="slider" gear="1"/></actuator>
</mujoco>
"""


def crane():
    """A cart on a rail with a hanging load."""
    return MujocoSystem(mujoco_text(CRANE), ["cart", "swing"])


def acrobot():
    """Two hanging links, a motor in the elbow alone."""
    return MujocoSystem(mujoco_text(ACROBOT), ["shoulder", "elbow"])


def slider():
    """A mass on a spring with dry friction and a stop on one side."""
    return MujocoSystem(mujoco_text(SLIDER), ["slider"])


class Tanks:
    """Levels h in cm: A_i h_i' = inflow_i(u) - a_i sqrt(2 g h_i) + what falls from the tank above it. Euler at 1/50 of dt."""

    G = 981.0  # cm/s^2

    def __init__(self, area, outlet, fed_by, pump, measured, typical):
        self.area, self.outlet = np.array(area), np.array(outlet)
        self.fed_by, self.pump = np.array(fed_by), np.array(pump)
        self.measured, self.typical = measured, np.array(typical)
        self.h = self.typical.copy()

    def reset(self, rng):
        self.h = self.typical * (1 + 0.05 * rng.standard_normal(len(self.typical)))

    def step(self, u, dt):
        for _ in range(50):
            out = self.outlet * np.sqrt(2 * self.G * np.maximum(self.h, 0.0))
            rate = (self.pump @ u + self.fed_by @ out - out) / self.area
            self.h = np.maximum(self.h + dt / 50 * rate, 0.0)

    def outputs(self):
        return self.h[self.measured]


def quad_tank():
    """The quadruple-tank process, minimum-phase setting (Johansson 2000): two pumps, the lower two levels measured."""
    g1, g2, k1, k2 = 0.70, 0.60, 3.33, 3.35
    return Tanks(area=[28, 32, 28, 32], outlet=[0.071, 0.057, 0.071, 0.057],
                 fed_by=[[0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
                 pump=[[g1 * k1, 0], [0, g2 * k2], [0, (1 - g2) * k2], [(1 - g1) * k1, 0]],
                 measured=[0, 1], typical=[12.4, 12.7, 1.8, 1.4])


def two_tank():
    """A pump fills an upper tank, which runs into a lower one, whose level is measured (Johansson's tanks)."""
    return Tanks(area=[28, 28], outlet=[0.071, 0.071], fed_by=[[0, 0], [1, 0]], pump=[[3.33], [0]],
                 measured=[1], typical=[10.0, 10.0])


SYSTEMS = {
    "pendulum": Pendulum,
    "mountain-car": MountainCar,
    "reacher": reacher,
    "quad-tank": quad_tank,
    "swimmer": swimmer,
    "cheetah-leg": cheetah_leg,
    "crane": crane,
    "acrobot": acrobot,
    "slider": slider,
    "two-tank": two_tank,
}
