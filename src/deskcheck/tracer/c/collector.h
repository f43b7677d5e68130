/* The collector comes at the same container of the program as without us.

   At a threshold of containers made, less those freed, it comes. It does not run inside of us, where finalisers of the
   program would; and what we make counts no more than what the interpreter makes for us. Containers that the interpreter
   keeps for reuse do not count again, so that of those as many are there after us as before. */
#ifndef DESKCHECK_COLLECTOR_H
#define DESKCHECK_COLLECTOR_H

#include "interpreter.h"
#include "opcode.h"

#if PY_VERSION_HEX >= 0x030E0000
/* All of them have one form: ours stand there while we are at work, and the program's wait. */
static struct _Py_freelists ours;
static int at_work;

static inline void
swap_free_lists(PyInterpreterState *interp)
{
    /* In one pass, unrolled: 720 bytes, twice for each event. */
    void **restrict there = (void **)&interp->object_state.freelists, **restrict kept = (void **)&ours;
#pragma GCC unroll 15
    for (size_t i = 0; i < sizeof ours / sizeof *kept; i++) {
        void *theirs = there[i];
        there[i] = kept[i];
        kept[i] = theirs;
    }
}
#elif PY_VERSION_HEX >= 0x030D0000
#define FREE_TUPLES(interp) (interp)->object_state.freelists.tuples.items
#define FREE_TUPLES_N(interp) (interp)->object_state.freelists.tuples.numfree
#define FREE_LISTS(interp) (interp)->object_state.freelists.lists.items
#define FREE_LISTS_N(interp) (interp)->object_state.freelists.lists.numfree
#define FREE_DICTS(interp) (interp)->object_state.freelists.dicts.items
#define FREE_DICTS_N(interp) (interp)->object_state.freelists.dicts.numfree
#else
#define FREE_TUPLES(interp) (interp)->tuple.free_list
#define FREE_TUPLES_N(interp) (interp)->tuple.numfree
#define FREE_LISTS(interp) (interp)->list.free_list
#define FREE_LISTS_N(interp) (interp)->list.numfree
#define FREE_DICTS(interp) (interp)->dict_state.free_list
#define FREE_DICTS_N(interp) (interp)->dict_state.numfree
#endif

typedef struct {
    int was_on, is_due, counts[3];
#if PY_VERSION_HEX < 0x030E0000
    int tuples[PyTuple_NFREELISTS], lists, dicts;
#endif
} Collector;

/* 3.12 and later: whether the collector is to come when the program's code goes on. */
static inline bool
collector_is_due(PyThreadState *ts)
{
#if PY_VERSION_HEX >= 0x030D0000
    return _Py_eval_breaker_bit_is_set(ts, _PY_GC_SCHEDULED_BIT);
#elif PY_VERSION_HEX >= 0x030C0000
    return _Py_atomic_load_relaxed(&ts->interp->ceval.gc_scheduled);
#else
    return false;
#endif
}

static inline void
collector_set_due(PyThreadState *ts, bool due)
{
#if PY_VERSION_HEX >= 0x030D0000
    if (due) _Py_set_eval_breaker_bit(ts, _PY_GC_SCHEDULED_BIT);
    else _Py_unset_eval_breaker_bit(ts, _PY_GC_SCHEDULED_BIT);
#elif PY_VERSION_HEX >= 0x030C0000
    _Py_atomic_store_relaxed(&ts->interp->ceval.gc_scheduled, due);
    if (due) _Py_atomic_store_relaxed(&ts->interp->ceval.eval_breaker, 1);
#endif
}

static inline Collector
collector_waits(PyThreadState *ts)
{
    PyInterpreterState *interp = ts->interp;
    Collector c = {interp->gc.enabled, collector_is_due(ts)};
    for (int i = 0; i < 3; i++) c.counts[i] = interp->gc.generations[i].count;
#if PY_VERSION_HEX >= 0x030E0000
    if (at_work++ == 0) swap_free_lists(interp);
#else
    memcpy(c.tuples, FREE_TUPLES_N(interp), sizeof c.tuples);
    c.lists = FREE_LISTS_N(interp);
    c.dicts = FREE_DICTS_N(interp);
#endif
    interp->gc.enabled = 0;
    if (c.is_due) collector_set_due(ts, false);  /* 3.12.1 does not ask whether it is enabled */
    return c;
}

#if PY_VERSION_HEX < 0x030E0000
static void
as_many_free_tuples(PyInterpreterState *interp, int index, int n)
{
    PyTupleObject **first = &FREE_TUPLES(interp)[index];
    int *number = &FREE_TUPLES_N(interp)[index];
    while (*number > n) {
        PyTupleObject *tuple = *first;
        *first = (PyTupleObject *)tuple->ob_item[0];
        --*number;
        PyObject_GC_Del(tuple);
    }
    while (*number < n) {
        PyTupleObject *tuple = PyObject_GC_NewVar(PyTupleObject, &PyTuple_Type, index + 1);
        if (!tuple) { PyErr_Clear(); return; }
        tuple->ob_item[0] = (PyObject *)*first;
        *first = tuple;
        ++*number;
    }
}

#define AS_MANY_FREE(type, pytype, items, number, n) do { \
    while (number > (n)) PyObject_GC_Del((items)[--number]); \
    while (number < (n)) { \
        type *new = PyObject_GC_New(type, &pytype); \
        if (!new) { PyErr_Clear(); break; } \
        (items)[number++] = new; \
    } \
} while (0)
#endif

static inline void
collector_goes_on(PyThreadState *ts, Collector c)
{
    PyInterpreterState *interp = ts->interp;
#if PY_VERSION_HEX >= 0x030E0000
    if (--at_work == 0) swap_free_lists(interp);
#else
    if (memcmp(c.tuples, FREE_TUPLES_N(interp), sizeof c.tuples))
        for (int i = 0; i < PyTuple_NFREELISTS; i++) as_many_free_tuples(interp, i, c.tuples[i]);
    AS_MANY_FREE(PyListObject, PyList_Type, FREE_LISTS(interp), FREE_LISTS_N(interp), c.lists);
    AS_MANY_FREE(PyDictObject, PyDict_Type, FREE_DICTS(interp), FREE_DICTS_N(interp), c.dicts);
#endif
    for (int i = 0; i < 3; i++) interp->gc.generations[i].count = c.counts[i];
    interp->gc.enabled = c.was_on;
    bool due = c.is_due && c.counts[0] > interp->gc.generations[0].threshold;
    if (due != collector_is_due(ts)) collector_set_due(ts, due);
}

/* The object of a frame is a container, which the interpreter makes for the trace function alone: it counts for nothing.
   To be called before all else at a frame's events. */
static inline void
frame_object_counts_not(PyThreadState *ts, PyFrameObject *frame, int what)
{
    if (what != PyTrace_CALL && what != PyTrace_RETURN) return;
    IFrame *f = frame->f_frame;
    PyCodeObject *code = frame_code(f);
    int lasti = frame_lasti(f);
    if (lasti < 0) return;
#if PY_VERSION_HEX >= 0x030C0000
    _Py_CODEUNIT at = _PyCode_CODE(code)[lasti / 2];
    int op = at.op.code, arg = at.op.arg;
#else
    _Py_CODEUNIT at = _PyCode_CODE(code)[lasti / 2];
    int op = _Py_OPCODE(at), arg = _Py_OPARG(at);
#endif
    int *count = &ts->interp->gc.generations[0].count;
    if (what == PyTrace_CALL) {
        if (arg == 0 && *count > 0) --*count;  /* a function begins, where RESUME says that nothing is resumed */
        return;
    }
#ifdef INSTRUMENTED_YIELD_VALUE
    bool yields = op == INSTRUMENTED_YIELD_VALUE || op == YIELD_VALUE;
    yields |= (op == INSTRUMENTED_RESUME || op == RESUME) && arg != 0;  /* 3.13 is at what comes next */
#else
    bool yields = op == YIELD_VALUE;
#endif
    if (!yields || raising(ts)) ++*count;  /* it is freed now, or who holds it had it made */
}

/* What the collector is to find when the program's code runs, while ours runs around that. */
static struct { bool held; Collector program; } around;

static void
collector_leaves_us(PyThreadState *ts)
{
    if (around.held) collector_goes_on(ts, around.program);
}

static void
collector_is_held_again(PyThreadState *ts)
{
    if (around.held) around.program = collector_waits(ts);
}

/* hold_collector(): it waits from now on, but for where the program runs (`evaluate`, `call`), which finds it as it is now. */
static PyObject *
hold_collector(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    around.held = true;
    collector_is_held_again(PyThreadState_Get());
    Py_RETURN_NONE;
}

/* release_collector(): it goes on, as the program has left it. */
static PyObject *
release_collector(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    collector_leaves_us(PyThreadState_Get());
    around.held = false;
    Py_RETURN_NONE;
}
#endif
