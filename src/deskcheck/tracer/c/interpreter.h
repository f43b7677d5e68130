/* What differs between CPython 3.11, 3.12 and 3.13, each difference under one name. */
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
#include "internal/pycore_ceval.h"
#include "internal/pycore_code.h"
#include "internal/pycore_dict.h"
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#include "internal/pycore_object.h"
#include "internal/pycore_runtime.h"
#if PY_VERSION_HEX >= 0x030D0000
#include "internal/pycore_ceval.h"
#include "internal/pycore_setobject.h"
#endif

#if PY_VERSION_HEX < 0x030B0000 || PY_VERSION_HEX >= 0x030E0000
#error "the native tracer knows the frames of CPython 3.11, 3.12 and 3.13 only"
#endif

typedef _PyInterpreterFrame IFrame;

static inline PyCodeObject *
frame_code(IFrame *f)
{
#if PY_VERSION_HEX >= 0x030D0000
    return (PyCodeObject *)f->f_executable;
#else
    return f->f_code;
#endif
}

static inline PyObject *
frame_function(IFrame *f)
{
#if PY_VERSION_HEX >= 0x030C0000
    return f->f_funcobj;
#else
    return (PyObject *)f->f_func;
#endif
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

/* The empty slot beside what is about to be called lies above it (before: below). */
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
#if PY_VERSION_HEX >= 0x030C0000
    return f->previous && f->previous->owner != FRAME_OWNED_BY_CSTACK;
#else
    return !f->is_entry;
#endif
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

static inline uint64_t
dict_version(PyObject *dict)
{
#if PY_VERSION_HEX >= 0x030D0000
    /* its values lie in an instance, where an assignment to an attribute leaves the version as it was */
    static uint64_t newest = UINT64_MAX;
    PyDictValues *values = ((PyDictObject *)dict)->ma_values;
    if (values && values->embedded) return newest--;
#endif
#if PY_VERSION_HEX >= 0x030C0000
    _Py_COMP_DIAG_PUSH
    _Py_COMP_DIAG_IGNORE_DEPR_DECLS
    uint64_t version = ((PyDictObject *)dict)->ma_version_tag;
    _Py_COMP_DIAG_POP
    return version;
#else
    return ((PyDictObject *)dict)->ma_version_tag;
#endif
}

/* Another one after each change of a class: of what it holds, or of its name, which lies elsewhere. */
static inline uint64_t
class_version(PyTypeObject *cls)
{
    uint64_t version = cls->tp_dict ? dict_version(cls->tp_dict) : 0;
    if (cls->tp_flags & Py_TPFLAGS_HEAPTYPE)
        version += ((uint64_t)((PyHeapTypeObject *)cls)->ht_qualname >> 3) * 0x9E3779B97F4A7C15ull;
    return version;
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
static inline Recursion
recursion_eased(PyThreadState *ts)
{
#if PY_VERSION_HEX >= 0x030C0000
    Recursion had = {ts->py_recursion_remaining, ts->c_recursion_remaining};
    ts->py_recursion_remaining += 300;
    ts->c_recursion_remaining += 100;
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
    ts->c_recursion_remaining = had.c;
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
