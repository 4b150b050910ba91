"""A brute-force twin of the tree dynamics, strict RL and CRL, for any `Tree`.

Kinematics come from one source: the fully deformed chain of poses
`G_i = G_p D_t(eta_p) O_t J(q) O_d^-1 D_d(eta_i)^-1`, a product of 4x4 exponentials, whose
complex-step derivative at eta = 0 gives the Jacobian of every node in world axes. The mass
matrix is the sum of J^T M_node J over nodes; there is no articulated or composite inertia and
no shift of forces from body to body.

Velocity products:

* CRL: the velocities J(q) u of all nodes are differentiated along qdot = Gamma u (eighth-order
  central differences). Linear momentum of a node changes by its mass times that derivative;
  its spin obeys Euler's equation with the components of its own rate. This is the definition
  behind section 6a of the equation sheet and shares no formula with it.
* RL: the sheet fixes which modal-rate terms stay, so a derivation from first principles is
  possible only for etad = 0, where RL and CRL must agree (`test_twin` checks that). For
  etad != 0 the prose of the definition is run: the velocity of F_i is written as the chain
  p -> O -> F_i, each frame is turned by its own rate, and the chain is differentiated
  numerically one link at a time; the resulting jumps of acceleration are summed along the path
  to each node in world axes. Body integrals (W_k, J, mc) are not used.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from darts_py.multibody.tree import GROUND, Node
from tests.reference import passive
from tests.reference.kinematics import Kinematics, rate_of, shift, turned, world_rates
from tests.reference.poses import COMPLEX_STEP, Array, twist_exponential, vee

Forces = dict[str, Array] | None


class Twin(Kinematics):
    """Brute-force dynamics of one tree. `q` and `u` are in the order of the public API."""

    # -- accelerations at udot = 0 ------------------------------------------------------------

    def convected(self, q: Array, u: Array) -> tuple[Array, Array, Array]:
        """Differentiate J(q(t)) u: return node velocities, their rates and the pose rates.

        All in world axes. The third is the rate at which each body's frozen pose turns.
        """
        _, J = self.jacobians(q)
        samples, axes = [], []
        for x in self.along_motion(q, u):
            G = self.node_poses(x + 1j * COMPLEX_STEP * (self.coordinate_rates(x) @ u))
            samples.append(world_rates(G))
            axes.append(G[:, :3, :3].real)
        R = self.node_poses(self.rest(q))[:, :3, :3]
        spin = vee(rate_of(np.stack(axes)) @ np.swapaxes(R, 1, 2))
        return J @ u, rate_of(np.stack(samples)), spin

    def link_acceleration(self, i: int, q: Array, u: Array, poses: Array, V: Array) -> Array:
        """Return the velocity products a_i of one hinge (RL), world axes, at F_i.

        The chain v_i = v_p + w_p x l_pO + s - w_i x l_iO is differentiated with l_pO carried by
        w_p, s and l_iO carried by w_i; modal rates appear in w_p and w_i only.
        """
        joint = self.tree.joints[i]
        R_i, w_i = poses[i, :3, :3], V[i, :3]
        R_p, w_p, r_t = np.eye(3), np.zeros(3), np.zeros(3)
        if joint.parent != GROUND:
            R_p, w_p = poses[joint.parent, :3, :3], V[joint.parent, :3]
            r_t = self.tree.bodies[joint.parent].nodes[joint.parent_node].r
        l_iO = self.tree.bodies[i].nodes[joint.child_node].r + joint.o_d
        rates, levers, slides, arms = [], [], [], []
        for t, G, xi in self.link_samples(i, q, u):
            R_i_t = twist_exponential(np.r_[t * w_i, 0, 0, 0])[:3, :3] @ R_i
            R_p_t = twist_exponential(np.r_[t * w_p, 0, 0, 0])[:3, :3] @ R_p
            rates.append(R_i_t @ joint.R_iO @ xi[:3])
            levers.append(R_p_t @ (r_t + joint.o_t + joint.R_pO @ G[:3, 3]))
            slides.append(R_i_t @ joint.R_iO @ xi[3:])
            arms.append(R_i_t @ l_iO)
        aw = rate_of(np.stack(rates))
        av = np.cross(w_p, rate_of(np.stack(levers))) + rate_of(np.stack(slides))
        av -= np.cross(aw, R_i @ l_iO) + np.cross(w_i, rate_of(np.stack(arms)))
        return np.r_[aw, av]

    def chain_accelerations(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Return each node's RL acceleration [dw; dv] at udot = 0 and the rate of its body."""
        poses, V = self.body_velocities(q, u)
        jumps = [self.link_acceleration(i, q, u, poses, V) for i in range(len(self.tree.bodies))]
        nodes = self.node_poses(self.rest(q))
        out, spin = np.zeros((len(self.keys), 6)), np.zeros((len(self.keys), 3))
        for n, key in enumerate(self.keys):
            for k in self.path(key.body):
                out[n] += shift(nodes[n, :3, 3] - poses[k, :3, 3]) @ jumps[k]
            w = spin[n] = V[key.body, :3]
            arm = nodes[n, :3, 3] - poses[key.body, :3, 3]
            out[n, 3:] += np.cross(w, np.cross(w, arm))
        return out, spin

    # -- forces -------------------------------------------------------------------------------

    def velocity_forces(self, q: Array, u: Array, terms: str) -> Array:
        """Return the inertia force [moment; force] of every node at udot = 0, world axes."""
        R = self.node_poses(self.rest(q))[:, :3, :3]
        out = np.zeros((len(self.keys), 6))
        if terms == "rl":
            acceleration, spin = self.chain_accelerations(q, u)
            for n, key in enumerate(self.keys):
                out[n] = rl_force(key.data, R[n], acceleration[n], spin[n])
        else:
            V, Vdot, spin = self.convected(q, u)
            for n, key in enumerate(self.keys):
                out[n] = crl_force(key.data, R[n], V[n], Vdot[n], spin[n])
        return out

    def applied_forces(self, q: Array, forces: Forces) -> Array:
        """Return weight and external force on every node, world axes, about the node."""
        R = self.node_poses(self.rest(q))[:, :3, :3]
        given = dict(forces or {})
        out = np.zeros((len(self.keys), 6))
        for n, key in enumerate(self.keys):
            weight = key.data.m * self.tree.gravity
            out[n] = np.r_[np.cross(R[n] @ key.data.p, weight), weight]
            name = f"{self.tree.bodies[key.body].name}.{key.data.name}"
            out[n] += turned(R[n], np.asarray(given.pop(name, np.zeros(6)), float))
        assert not given, f"unknown nodes {sorted(given)}"
        return out

    def passive_forces(self, q: Array, u: Array) -> Array:
        """Return generalized forces of strain, modal damping, joint springs, dampers, stops."""
        out = np.zeros(self.n_speeds)
        for i, (body, joint) in enumerate(zip(self.tree.bodies, self.tree.joints, strict=True)):
            out[self.etad[i]] = -(body.K @ q[self.eta[i]] + body.Dm @ u[self.etad[i]])
            out[self.beta[i]] = passive.joint_force(joint, q[self.joint_q[i]], u[self.beta[i]])
        return out

    # -- what the tests ask for ---------------------------------------------------------------

    def mass_matrix(self, q: Array) -> Array:
        """Return M(q) = sum of J^T M_node J."""
        poses, J = self.jacobians(q)
        M = [node_inertia(key.data, G[:3, :3]) for key, G in zip(self.keys, poses, strict=True)]
        return np.einsum("nai,nab,nbj->ij", J, np.stack(M), J)

    def bias_force(self, q: Array, u: Array, forces: Forces = None, terms: str = "rl") -> Array:
        """Return C with M udot + C = tau."""
        _, J = self.jacobians(q)
        node = self.velocity_forces(q, u, terms) - self.applied_forces(q, forces)
        return np.einsum("nai,na->i", J, node) - self.passive_forces(q, u)

    def inverse_dynamics(
        self, q: Array, u: Array, udot: Array, forces: Forces = None, terms: str = "rl"
    ) -> Array:
        """Return tau."""
        return self.mass_matrix(q) @ udot + self.bias_force(q, u, forces, terms)

    def free_speeds(self) -> Array:
        """Return which speeds are not locked."""
        out = np.ones(self.n_speeds, bool)
        for beta, joint in zip(self.beta, self.tree.joints, strict=True):
            out[beta] = not joint.locked
        return out

    def forward_dynamics(
        self, q: Array, u: Array, tau: Array, forces: Forces = None, terms: str = "rl"
    ) -> Array:
        """Return udot; speeds of locked joints do not change."""
        free = self.free_speeds()
        out = np.zeros(self.n_speeds)
        force = (tau - self.bias_force(q, u, forces, terms))[free]
        out[free] = np.linalg.solve(self.mass_matrix(q)[np.ix_(free, free)], force)
        return out

    def body_motion(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Return velocities V_i and RL velocity products a_i of all bodies, own axes."""
        poses, V = self.body_velocities(q, u)
        a = [self.link_acceleration(i, q, u, poses, V) for i in range(len(V))]
        axes = [G[:3, :3].T for G in poses]
        own_V = [turned(R, x) for R, x in zip(axes, V, strict=True)]
        own_a = [turned(R, x) for R, x in zip(axes, a, strict=True)]
        return np.stack(own_V), np.stack(own_a)

    def node_motion(
        self, q: Array, u: Array, udot: Array, name: str, terms: str = "rl"
    ) -> SimpleNamespace:
        """Return pose (world), V, A and Jacobian (body axes) of the node `body.node`."""
        n = self.index(name)
        poses, J = self.jacobians(q)
        R = poses[n, :3, :3]
        bias = self.chain_accelerations(q, u)[0] if terms == "rl" else self.convected(q, u)[1]
        bent = self.node_poses(np.asarray(q, float))[n]
        return SimpleNamespace(
            r_N=poses[n, :3, 3],
            R=R,
            r_bent_N=bent[:3, 3],
            V=turned(R.T, J[n] @ u),
            A=turned(R.T, J[n] @ udot + bias[n]),
            J=np.concatenate([R.T @ J[n, :3], R.T @ J[n, 3:]]),
        )

    def hinge_loads(
        self, q: Array, u: Array, udot: Array, forces: Forces = None, terms: str = "rl"
    ) -> Array:
        """Return the load on each body through its hinge, about F, F axes: sum over its subtree."""
        nodes, J = self.jacobians(q)
        load = self.velocity_forces(q, u, terms) - self.applied_forces(q, forces)
        for n, key in enumerate(self.keys):
            load[n] += node_inertia(key.data, nodes[n, :3, :3]) @ J[n] @ udot
        bodies = self.body_poses(self.rest(q))
        out = np.zeros((len(bodies), 6))
        for i, G in enumerate(bodies):
            for n, key in enumerate(self.keys):
                if i in self.path(key.body):
                    out[i] += shift(nodes[n, :3, 3] - G[:3, 3]).T @ load[n]
            out[i] = turned(G[:3, :3].T, out[i])
        return out

    def energy(self, q: Array, u: Array) -> SimpleNamespace:
        """Return kinetic, strain, gravity and joint-spring energy."""
        poses, _ = self.jacobians(q)
        bodies = zip(self.tree.bodies, self.eta, strict=True)
        joints = zip(self.tree.joints, self.joint_q, strict=True)
        weight = sum(
            key.data.m * (G[:3, 3] + G[:3, :3] @ key.data.p)
            for key, G in zip(self.keys, poses, strict=True)
        )
        return SimpleNamespace(
            kinetic=0.5 * u @ self.mass_matrix(q) @ u,
            strain=sum(0.5 * q[modes] @ body.K @ q[modes] for body, modes in bodies),
            gravity=-self.tree.gravity @ weight,
            spring=sum(passive.spring_energy(joint, q[part]) for joint, part in joints),
        )

    def momentum(self, q: Array, u: Array) -> Array:
        """Return [angular about the world origin; linear], world axes."""
        poses, J = self.jacobians(q)
        out = np.zeros(6)
        for key, G, J_n in zip(self.keys, poses, J, strict=True):
            h = node_inertia(key.data, G[:3, :3]) @ J_n @ u
            out += shift(G[:3, 3]).T @ h
        return out


def node_inertia(node: Node, R: Array) -> Array:
    """Return the node's spatial inertia about the node, world axes."""
    to_centre = shift(R @ node.p)
    at_centre = np.zeros((6, 6))
    at_centre[:3, :3] = R @ node.Jc @ R.T
    at_centre[3:, 3:] = node.m * np.eye(3)
    return to_centre.T @ at_centre @ to_centre


def rl_force(node: Node, R: Array, acceleration: Array, w: Array) -> Array:
    """Return the inertia force of a node that turns with its body's rate w."""
    p, Jc = R @ node.p, R @ node.Jc @ R.T
    dw, dv = acceleration[:3], acceleration[3:]
    force = node.m * (dv + np.cross(dw, p) + np.cross(w, np.cross(w, p)))
    return np.r_[Jc @ dw + np.cross(w, Jc @ w) + np.cross(p, force), force]


def crl_force(node: Node, R: Array, V: Array, Vdot: Array, spin: Array) -> Array:
    """Return the inertia force of a node: momentum rate, and Euler's equation at its own rate."""
    p, Jc, w = R @ node.p, R @ node.Jc @ R.T, V[:3]
    # d/dt of v + w x p, where p turns with the frozen pose
    force = node.m * (Vdot[3:] + np.cross(Vdot[:3], p) + np.cross(w, np.cross(spin, p)))
    components_rate = Vdot[:3] - np.cross(spin, w)
    return np.r_[Jc @ components_rate + np.cross(w, Jc @ w) + np.cross(p, force), force]
