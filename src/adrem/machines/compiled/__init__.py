"""Dual coordinate descent, compiled by numba: all compiled code of the package that runs on the CPU.

The kernels train many binary problems on the same rows at once: problem ``p`` belongs to member ``p // n_problems`` and
separates one class from the rest. Row ``i`` enters the weight vector with a multiple between zero and ``box[i]``, times
the sign of its label. `losses` holds the formulas of each loss; the kernels are compiled once for each.

A problem never depends on the problems beside it: neither in its order of rows, nor in its arithmetic, nor in when it
stops. The kernels return to Python when their budget is spent, so that Ctrl-C works, and are called again to go on.

Weights, scores and dual variables are double precision whatever the type of the rows, so that millions of small steps
do not add up rounding errors; only four rows of a Gram matrix at a time are summed in their own type.
"""

from numba import config

from adrem.exceptions import MissingImportError

if getattr(config, "DISABLE_JIT", 0):
    raise MissingImportError(
        "The compiled loops can't run without compilation, which NUMBA_DISABLE_JIT=1 turns off: unset it."
    )
