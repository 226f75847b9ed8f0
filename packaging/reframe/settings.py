"""A machine without a batch system for ReFrame. A cluster has another scheduler and launcher, such as slurm and srun."""

site_configuration = {
    "systems": [
        {
            "name": "local",
            "descr": "this machine, whatever it is",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "default",
                    "scheduler": "local",
                    "launcher": "mpirun",
                    "environs": ["builtin"],
                    # As many threads as cores in each rank would share these cores.
                    "env_vars": [["OMP_NUM_THREADS", "1"]],
                }
            ],
        }
    ],
}
