"""Is a strategy worth it? Paired trials of two of them, here or on a cluster."""

from concurrent.futures import ProcessPoolExecutor

import gpilot

if __name__ == "__main__":  # processes import this file
    with ProcessPoolExecutor(2) as executor:  # or Client("tcp://scheduler:8786").get_executor() of dask.distributed
        result = gpilot.compare(
            "kink", ["random", "latmi"], trials=6, steps=8, executor=executor, directory=None, progress=True
        )
    print(result.table()[["strategy", "metric", "median"]].to_string(index=False))
