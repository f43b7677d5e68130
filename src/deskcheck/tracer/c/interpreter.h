/* What differs between CPython 3.11 and 3.15, each difference under one name. */
#ifndef DESKCHECK_INTERPRETER_H
#define DESKCHECK_INTERPRETER_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_BUILD_CORE
#define Py_BUILD_CORE 1
#endif
#include <Python.h>
#include <frameobject.h>
#include <structmember.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "internal/pycore_ceval.h"
#include "internal/pycore_code.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_genobject.h"
#include "internal/pycore_interpframe.h"
#include "internal/pycore_stackref.h"
#endif
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "internal/pycore_runtime.h"
#if PY_VERSION_HEX >= 0x030D0000
#include "internal/pycore_ceval.h"
#include "internal/pycore_setobject.h"
#endif

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x03100000 || defined(Py_GIL_DISABLED)
#error "the native tracer knows the frames of CPython 3.11 to 3.15 with a GIL only"
#endif

typedef _PyInterpreterFrame IFrame;

static inline PyCodeObject *
frame_code(IFrame *f)
{
#if PY_VERSION_HEX >= 0x030E0000
    return _PyFrame_GetCode(f);
#elif PY_VERSION_HEX >= 0x030D0000
    return (PyCodeObject *)f->f_executable;
#else
    return f->f_code;
#endif
}

static inline PyObject *
frame_function(IFrame *f)
{
#if PY_VERSION_HEX >= 0x030E0000
    return PyStackRef_AsPyObjectBorrow(f->f_funcobj);
#elif PY_VERSION_HEX >= 0x030C0000
    return f->f_funcobj;
#else
    return (PyObject *)f->f_func;
#endif
}

/* A slot of the fast locals or of the value stack. From 3.14 on its two lowest bits say what it is: an object whose reference
   the slot has or borrows, or a number (pycore_stackref.h). */
#if PY_VERSION_HEX >= 0x030E0000
typedef _PyStackRef Slot;
static inline bool is_number(Slot s) { return (s.bits & Py_INT_TAG) == Py_INT_TAG; }
static inline long number_in(Slot s) { return (long)((intptr_t)s.bits >> 2); }
static inline PyObject *object_in(Slot s) { return is_number(s) ? NULL : (PyObject *)(s.bits & ~(uintptr_t)Py_INT_TAG); }
#else
typedef PyObject *Slot;
static inline bool is_number(Slot Py_UNUSED(s)) { return false; }
static inline long number_in(Slot Py_UNUSED(s)) { return 0; }
static inline PyObject *object_in(Slot s) { return s; }
#endif

static inline PyObject *local_of(IFrame *f, int slot) { return object_in(f->localsplus[slot]); }

/* How many slots are filled, fast locals among them; -1 where the interpreter keeps that to itself. From 3.14 on it holds
   whenever other code runs. */
static inline int
filled_slots(IFrame *f)
{
#if PY_VERSION_HEX >= 0x030E0000
    return f->stackpointer ? (int)(f->stackpointer - f->localsplus) : -1;
#else
    return f->stacktop;
#endif
}

/* The count in the first word of an object's memory; from 3.14 on, flags stand above it. */
static inline uint64_t
references_at(const void *o)
{
    uint64_t count;
    memcpy(&count, o, sizeof count);
    return PY_VERSION_HEX >= 0x030E0000 ? count & UINT32_MAX : count;
}

/* Byte offset as in frame.f_lasti: -1 before the first instruction. */
static inline int
frame_lasti(IFrame *f)
{
    int lasti = _PyInterpreterFrame_LASTI(f);
    return lasti < 0 ? -1 : lasti * (int)sizeof(_Py_CODEUNIT);
}

/* The code of a generator or coroutine, borrowed. */
static inline PyCodeObject *
generator_code(PyObject *o)
{
#if PY_VERSION_HEX >= 0x030C0000
    PyCodeObject *code = PyGen_GetCode((PyGenObject *)o);
    Py_DECREF(code);
    return code;
#else
    return ((PyGenObject *)o)->gi_code;
#endif
}

/* The generator or coroutine whose frame it is. */
static inline PyObject *
generator_of(IFrame *f)
{
#if PY_VERSION_HEX >= 0x030E0000
    return (PyObject *)_PyGen_GetGeneratorFromFrame(f);
#else
    return (PyObject *)_PyFrame_GetGenerator(f);
#endif
}

/* The empty slot beside what is about to be called lies above it (before: below). */
enum { KEEPS_YIELDED = PY_VERSION_HEX >= 0x030E0000 };  /* what is yielded still lies on the stack when that is told */
enum { NULL_ABOVE = PY_VERSION_HEX >= 0x030D0000 };

/* Whether this process has more interpreters than one: the newest is the first of the list. */
static inline bool
has_subinterpreters(void)
{
    return _PyRuntime.interpreters.head != _PyRuntime.interpreters.main;
}

/* Whether the interpreter goes back from a frame straight to the one before, through no code in C. */
static inline bool
entered_from_python(IFrame *f)
{
#if PY_VERSION_HEX >= 0x030E0000
    return f->previous && f->previous->owner != FRAME_OWNED_BY_INTERPRETER;
#elif PY_VERSION_HEX >= 0x030C0000
    return f->previous && f->previous->owner != FRAME_OWNED_BY_CSTACK;
#else
    return !f->is_entry;
#endif
}

/* The frame that called: between it and an evaluation of its own lies one that the interpreter makes. */
static inline IFrame *
calling_frame(IFrame *f)
{
    IFrame *caller = f->previous;
#if PY_VERSION_HEX >= 0x030C0000
    if (caller && !entered_from_python(f)) caller = caller->previous;
#endif
    return caller;
}

/* Whether an exception is set. */
static inline bool
raising(PyThreadState *ts)
{
#if PY_VERSION_HEX >= 0x030C0000
    return ts->current_exception != NULL;
#else
    return ts->curexc_type != NULL;
#endif
}

/* The value of an int that fits into 64 bits; false for a larger one. */
static inline bool
int_value(PyObject *o, int64_t *value)
{
#if PY_VERSION_HEX >= 0x030C0000
    if (_PyLong_IsCompact((PyLongObject *)o)) {
        *value = _PyLong_CompactValue((PyLongObject *)o);
        return true;
    }
#else
    Py_ssize_t size = Py_SIZE(o);
    if (size >= -1 && size <= 1) {
        *value = size ? (int64_t)size * ((PyLongObject *)o)->ob_digit[0] : 0;
        return true;
    }
#endif
    int overflow;
    long long found = PyLong_AsLongLongAndOverflow(o, &overflow);
    *value = found;
    return !overflow;
}

/* Iterators of builtin types whose structure is private to the interpreter's sources. */
typedef struct { PyObject_HEAD Py_ssize_t index; PyObject *over; } SequenceIterator;
typedef struct { PyObject_HEAD PyObject *over; Py_ssize_t used, pos; PyObject *result; Py_ssize_t len; } DictIterator;
typedef struct { PyObject_HEAD PyObject *over; Py_ssize_t used, pos, len; } SetIterator;
typedef struct { PyObject_HEAD Py_ssize_t tuplesize; PyObject *iterators; } ZipObject;
typedef struct { PyObject_HEAD Py_ssize_t index; PyObject *inner, *result, *longindex; } EnumerateObject;
#if PY_VERSION_HEX >= 0x030C0000
typedef struct { PyObject_HEAD long start, step, len; } RangeIterator;
#else
typedef struct { PyObject_HEAD long index, start, step, len; } RangeIterator;
#endif

static inline void
range_left(PyObject *o, int64_t *start, int64_t *stop, int64_t *step, int64_t *len)
{
    RangeIterator *it = (RangeIterator *)o;
    *step = it->step;
#if PY_VERSION_HEX >= 0x030C0000
    *start = it->start;
    *len = it->len;
    *stop = it->start + it->len * it->step;
#else
    *start = it->start + it->index * it->step;
    *len = it->len - it->index;
    *stop = it->start + it->len * it->step;
#endif
}

/* sys.settrace stands on sys.monitoring from 3.12 on, as a tool of its own whose events are on for all code. For a tracer
   that records some code only, they can be on for that code alone: the rest then runs at full speed. */
#if PY_VERSION_HEX >= 0x030C0000
#include "internal/pycore_instruments.h"
#define HAS_LOCAL_EVENTS 1
#if PY_VERSION_HEX >= 0x030F0000
#define _PY_MONITORING_LOCAL_EVENTS (PY_MONITORING_EVENT_STOP_ITERATION + 1)  /* it has others, too; those stay for all code */
#define FRAME_COMPLETED FRAME_CLEARED
#endif
enum { SETTRACE = 1 << PY_MONITORING_SYS_TRACE_ID };

static inline void
settrace_events_off(PyInterpreterState *interp, uint8_t *were)
{
    for (int event = 0; event < _PY_MONITORING_LOCAL_EVENTS; event++) {
        if (interp->monitors.tools[event] & SETTRACE) were[event] = 1;
        interp->monitors.tools[event] &= (uint8_t)~SETTRACE;
    }
}

static inline void
settrace_events_on(PyInterpreterState *interp, const uint8_t *were)
{
    for (int event = 0; event < _PY_MONITORING_LOCAL_EVENTS; event++)
        if (were[event]) interp->monitors.tools[event] |= SETTRACE;
}

/* For one code object, which must have been given events of some tool before. */
static inline void
settrace_local(PyCodeObject *code, const uint8_t *which, bool instructions)
{
#if PY_VERSION_HEX >= 0x030E0000
    /* else they count as those of another tool that had this number before */
    code->_co_monitoring->tool_versions[PY_MONITORING_SYS_TRACE_ID] =
        PyInterpreterState_Get()->monitoring_tool_versions[PY_MONITORING_SYS_TRACE_ID];
#endif
    for (int event = 0; event < _PY_MONITORING_LOCAL_EVENTS; event++) {
        uint8_t *tools = &code->_co_monitoring->local_monitors.tools[event];
        bool on = which && which[event] && (event != PY_MONITORING_EVENT_INSTRUCTION || instructions);
        *tools = (uint8_t)(on ? *tools | SETTRACE : *tools & ~SETTRACE);
    }
}
#else
#define HAS_LOCAL_EVENTS 0
#endif

/* What an instance holds of its own, in order; a dict is not made for it. */
typedef struct { PyObject *dict; PyDictValues *values; PyDictKeysObject *keys; const uint8_t *order; Py_ssize_t n, at; } Attributes;

static inline void
attributes_of(PyObject *o, Attributes *a)
{
    PyTypeObject *k = Py_TYPE(o);
    *a = (Attributes){0};
#if PY_VERSION_HEX >= 0x030D0000
    if (k->tp_flags & Py_TPFLAGS_INLINE_VALUES) {
        PyDictValues *values = _PyObject_InlineValues(o);
        if (values->valid) {
            a->values = values;
            a->n = values->size;
            a->order = get_insertion_order_array(values);
        }
    }
    if (!a->values && k->tp_flags & Py_TPFLAGS_MANAGED_DICT) { a->dict = (PyObject *)_PyObject_ManagedDictPointer(o)->dict; return; }
#else
    if (k->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
#if PY_VERSION_HEX >= 0x030C0000
        PyDictOrValues found = *_PyObject_DictOrValuesPointer(o);
        if (_PyDictOrValues_IsValues(found)) a->values = _PyDictOrValues_GetValues(found);
        else a->dict = _PyDictOrValues_GetDict(found);
#else
        a->values = *_PyObject_ValuesPointer(o);
        if (!a->values) a->dict = *_PyObject_ManagedDictPointer(o);
#endif
        if (!a->values) return;
        a->n = ((uint8_t *)a->values)[-2];
    }
#endif
    if (a->values) { a->keys = ((PyHeapTypeObject *)k)->ht_cached_keys; return; }
    PyObject **dict = _PyObject_GetDictPtr(o);
    a->dict = dict ? *dict : NULL;
}

static inline bool
next_attribute(Attributes *a, PyObject **key, PyObject **value)
{
    if (!a->values) return a->dict && PyDict_Check(a->dict) && PyDict_Next(a->dict, &a->at, key, value);
    if (a->at == a->n) return false;
#if PY_VERSION_HEX >= 0x030D0000
    size_t index = a->order[a->at++];
#else
    size_t index = ((uint8_t *)a->values)[-3 - a->at++];
#endif
    *key = DK_UNICODE_ENTRIES(a->keys)[index].me_key;
    *value = a->values->values[index];
    return true;
}

/* Python code of ours runs without the program's signal handlers: these wait for the program's own code, whose
   they are to interrupt. The interpreter runs them in its main thread only, and for that moment it has none. */
static inline bool
signals_wait(void)
{
    if (_PyRuntime.main_thread != PyThread_get_thread_ident()) return false;
    _PyRuntime.main_thread = 0;
    return true;
}

static inline void
signals_go_on(bool waited)
{
    if (!waited) return;
    _PyRuntime.main_thread = PyThread_get_thread_ident();
#if PY_VERSION_HEX >= 0x030D0000
    _Py_set_eval_breaker_bit(PyThreadState_Get(), _PY_SIGNALS_PENDING_BIT | _PY_CALLS_TO_DO_BIT);
#else
    PyInterpreterState *interp = PyInterpreterState_Get();
    if (_Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending) || _Py_atomic_load_relaxed(&interp->ceval.pending.calls_to_do))
        _Py_atomic_store_relaxed(&interp->ceval.eval_breaker, 1);
#endif
}
#define QUIETLY(call) ({ bool waited_ = signals_wait(); PyObject *found_ = (call); signals_go_on(waited_); found_; })

/* Room for Python code of ours near the recursion limits of the program, of Python and (3.12 and later) of C. */
typedef struct { int python, c; } Recursion;
#if PY_VERSION_HEX >= 0x030E0000
#define C_RECURSION(ts) (int){0}  /* it counts bytes of the stack, and we have ours below the program's */
#define LIMIT_OF_C 0
#elif PY_VERSION_HEX >= 0x030D0000
#define C_RECURSION(ts) (ts)->c_recursion_remaining
#define LIMIT_OF_C Py_C_RECURSION_LIMIT
#elif PY_VERSION_HEX >= 0x030C0000
#define C_RECURSION(ts) (ts)->c_recursion_remaining
#define LIMIT_OF_C C_RECURSION_LIMIT
#endif
static inline Recursion
recursion_eased(PyThreadState *ts)
{
#if PY_VERSION_HEX >= 0x030C0000
    Recursion had = {ts->py_recursion_remaining, C_RECURSION(ts)};
    ts->py_recursion_remaining += 300;
    C_RECURSION(ts) += 100;
#else
    Recursion had = {ts->recursion_remaining, 0};
    ts->recursion_remaining += 300;
#endif
    return had;
}
static inline void
recursion_as_before(PyThreadState *ts, Recursion had)
{
#if PY_VERSION_HEX >= 0x030C0000
    ts->py_recursion_remaining = had.python;
    C_RECURSION(ts) = had.c;
#else
    ts->recursion_remaining = had.python;
#endif
}

/* A string whose characters can be read: on 3.11 it may be in the form of a deprecated C interface. */
static inline PyObject *
readable(PyObject *s)
{
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(s) < 0) Py_FatalError("deskcheck: out of memory in the tracer");
#endif
    return s;
}

/* The keys of an OrderedDict in its order. Its own iterators ask the program's code for their hashes.
   The structs are those of Objects/odictobject.c. */
typedef struct OrderedNode {
    PyObject *key;
    Py_hash_t hash;
    struct OrderedNode *next, *previous;
} OrderedNode;
typedef struct {
    PyDictObject dict;
    OrderedNode *first, *last;
} OrderedDict;

static inline PyObject *
ordered_keys(PyObject *Py_UNUSED(module), PyObject *o)
{
    if (!PyODict_Check(o)) return PyErr_Format(PyExc_TypeError, "an OrderedDict is needed, not %s", Py_TYPE(o)->tp_name);
    PyObject *keys = PyList_New(0);
    for (OrderedNode *node = ((OrderedDict *)o)->first; node && keys; node = node->next)
        if (PyList_Append(keys, node->key) < 0) Py_CLEAR(keys);
    return keys;
}
#endif
