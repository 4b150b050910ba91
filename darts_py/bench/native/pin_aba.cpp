// Times Pinocchio's articulated-body algorithm in a compiled loop, in both of its conventions.
// usage: pin_aba CASE_FILE SECONDS; prints "local_ns X", "world_ns X" and "udot ...".
#include <pinocchio/fwd.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/multibody/joint.hpp>
#include <pinocchio/algorithm/aba.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "timing.h"

using namespace pinocchio;

// one line of the case file: parent, joint (0 1 2 revolute x y z, 3 free), R, p, m, c, Ic
static void read_link(std::istream& in, Model& model, std::vector<JointIndex>& ids) {
    int parent, joint;
    double mass;
    Eigen::Matrix3d R, inertia;
    Eigen::Vector3d p, com;
    in >> parent >> joint;
    for (int k = 0; k < 9; k++) in >> R(k / 3, k % 3);
    for (int k = 0; k < 3; k++) in >> p[k];
    in >> mass;
    for (int k = 0; k < 3; k++) in >> com[k];
    for (int k = 0; k < 9; k++) in >> inertia(k / 3, k % 3);
    const JointIndex inboard = parent < 0 ? 0 : ids[parent];
    const std::string name = "j" + std::to_string(ids.size());
    const SE3 place(R, p);
    JointIndex id;
    if (joint == 0) id = model.addJoint(inboard, JointModelRX(), place, name);
    else if (joint == 1) id = model.addJoint(inboard, JointModelRY(), place, name);
    else if (joint == 2) id = model.addJoint(inboard, JointModelRZ(), place, name);
    else id = model.addJoint(inboard, JointModelFreeFlyer(), place, name);
    model.appendBodyToJoint(id, Inertia(mass, com, inertia), SE3::Identity());
    ids.push_back(id);
}

static Eigen::VectorXd read_vector(std::istream& in) {
    int n;
    in >> n;
    Eigen::VectorXd v(n);
    for (int k = 0; k < n; k++) in >> v[k];
    return v;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::ifstream in(argv[1]);
    const double seconds = std::atof(argv[2]);
    int n_links;
    in >> n_links;
    Model model;
    model.gravity.linear().setZero();
    std::vector<JointIndex> ids;
    for (int k = 0; k < n_links; k++) read_link(in, model, ids);
    const Eigen::VectorXd q = read_vector(in), u = read_vector(in);
    Eigen::VectorXd tau = read_vector(in);
    if (!in) return 3;

    Data data(model);
    const double tau0 = tau[0];
    double local_ns, world_ns;
    volatile double sink = 0.0;  // the force changes and a result is used: nothing can be hoisted
    MEASURE(local_ns, seconds, tau[0] = tau0 + 1e-6 * (double)i;
            aba(model, data, q, u, tau, Convention::LOCAL); sink = sink + data.ddq[0]);
    MEASURE(world_ns, seconds, tau[0] = tau0 + 1e-6 * (double)i;
            aba(model, data, q, u, tau, Convention::WORLD); sink = sink + data.ddq[0]);
    tau[0] = tau0;
    aba(model, data, q, u, tau, Convention::LOCAL);
    printf("local_ns %.3f\nworld_ns %.3f\nudot", local_ns, world_ns);
    for (int k = 0; k < model.nv; k++) printf(" %.17g", data.ddq[k]);
    printf("\n");
    return 0;
}
