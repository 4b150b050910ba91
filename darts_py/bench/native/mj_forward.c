/* Times MuJoCo's mj_forward in a compiled loop.
   usage: mj_forward MODEL.xml STATE_FILE SECONDS; prints "forward_ns X" and "udot ...". */
#include <mujoco/mujoco.h>

#include <stdlib.h>

#include "timing.h"

/* each vector of the state file: its length, then its numbers */
static int read_vector(FILE* in, int expected, mjtNum* out) {
    int n;
    if (fscanf(in, "%d", &n) != 1 || n != expected) return 0;
    for (int k = 0; k < n; k++)
        if (fscanf(in, "%lf", &out[k]) != 1) return 0;
    return 1;
}

int main(int argc, char** argv) {
    char error[1000] = "";
    if (argc != 4) return 2;
    mjModel* m = mj_loadXML(argv[1], 0, error, sizeof error);
    if (!m) {
        fprintf(stderr, "%s\n", error);
        return 3;
    }
    mjData* d = mj_makeData(m);
    FILE* in = fopen(argv[2], "r");
    if (!in || !read_vector(in, (int)m->nq, d->qpos) || !read_vector(in, (int)m->nv, d->qvel) ||
        !read_vector(in, (int)m->nv, d->qfrc_applied))
        return 3;

    const double tau0 = d->qfrc_applied[0];
    double forward_ns;
    MEASURE(forward_ns, atof(argv[3]), d->qfrc_applied[0] = tau0 + 1e-6 * (double)i; mj_forward(m, d));
    d->qfrc_applied[0] = tau0;
    mj_forward(m, d);
    printf("forward_ns %.3f\nudot", forward_ns);
    for (int k = 0; k < (int)m->nv; k++) printf(" %.17g", d->qacc[k]);
    printf("\n");
    return 0;
}
