"""Vector instructions that numba does not generate by itself."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # its type loses the arguments of the function that it makes

# Problems that share a visit to a row: their weights for a feature are two cache lines and one or two SIMD registers.
LANES = 16
# Scores that are updated together: two or four registers of the widest kind.
STRIDE = 16


def _vector(context: Any, builder: Any, array_type: Any, array: Any, indices: list[Any], width: int) -> Any:
    """Return a pointer to consecutive entries of an array, as one SIMD register or a few."""
    struct = context.make_array(array_type)(context, builder, array)
    pointer = cgutils.get_item_pointer(context, builder, array_type, struct, indices)
    entry = context.get_value_type(array_type.dtype)
    return builder.bitcast(pointer, ir.VectorType(entry, width).as_pointer())


def _entry(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Load one entry of an array."""
    struct = context.make_array(array_type)(context, builder, array)
    return builder.load(cgutils.get_item_pointer(context, builder, array_type, struct, [index]))


def _splat(builder: Any, number: Any, width: int) -> Any:
    """Fill a SIMD register with one number."""
    undefined = ir.Constant(ir.VectorType(number.type, width), ir.Undefined)
    first = builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width))


@_intrinsic
def add_four(typingctx: Any, scores: Any, j: Any, gram: Any, which: Any, steps: Any, k: Any) -> Any:
    """Add four rows of the Gram matrix, times their steps, to the scores j to j + STRIDE.

    This uses the full width of the SIMD registers, numba only half of it. Products are summed in the type of the
    matrix, and their sum is added in double precision.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        scores_type, _, gram_type, which_type, steps_type, _ = signature.args
        scores, j, gram, which, steps, k = arguments
        total: Any = None
        for offset in range(4):
            place = builder.add(k, context.get_constant(types.intp, offset))
            row = _entry(context, builder, which_type, which, place)
            step = _splat(builder, _entry(context, builder, steps_type, steps, place), STRIDE)
            entries = builder.load(_vector(context, builder, gram_type, gram, [row, j], STRIDE), align=4)
            product = builder.fmul(entries, step, flags=("contract",))
            total = product if total is None else builder.fadd(total, product, flags=("contract",))
        if total.type.element != ir.DoubleType():
            total = builder.fpext(total, ir.VectorType(ir.DoubleType(), STRIDE))
        pointer = _vector(context, builder, scores_type, scores, [j], STRIDE)
        builder.store(builder.fadd(builder.load(pointer, align=8), total), pointer, align=8)
        return context.get_dummy_value()

    return types.void(scores, types.intp, gram, which, steps, types.intp), generate


@_intrinsic
def add_part(typingctx: Any, local: Any, k: Any, gram: Any, i: Any, j: Any, step: Any) -> Any:
    """Add row i of the Gram matrix from column j on, times a step, to STRIDE numbers from local[k] on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        local, k, gram, i, j, step = arguments
        entries = builder.load(_vector(context, builder, signature.args[2], gram, [i, j], STRIDE), align=4)
        if entries.type.element != ir.DoubleType():
            entries = builder.fpext(entries, ir.VectorType(ir.DoubleType(), STRIDE))
        pointer = _vector(context, builder, signature.args[0], local, [k], STRIDE)
        product = builder.fmul(entries, _splat(builder, step, STRIDE), flags=("contract",))
        builder.store(builder.fadd(builder.load(pointer, align=8), product, flags=("contract",)), pointer, align=8)
        return context.get_dummy_value()

    return types.void(local, types.intp, gram, types.intp, types.intp, types.float64), generate


@_intrinsic
def add_multiple(typingctx: Any, to: Any, i: Any, source: Any, j: Any, factor: Any) -> Any:
    """to[i] += factor * source[j] for arrays of LANES columns, in SIMD registers: numba would not use them here."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to, i, source, j, factor = arguments
        zero = context.get_constant(types.intp, 0)
        target = _vector(context, builder, signature.args[0], to, [i, zero], LANES)
        origin = _vector(context, builder, signature.args[2], source, [j, zero], LANES)
        product = builder.fmul(_splat(builder, factor, LANES), builder.load(origin, align=8), flags=("contract",))
        builder.store(builder.fadd(builder.load(target, align=8), product, flags=("contract",)), target, align=8)
        return context.get_dummy_value()

    return types.void(to, types.intp, source, types.intp, types.float64), generate
