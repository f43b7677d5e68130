/* Whether a dict has changed since it was looked at last: its version is another one after each change. */
#ifndef DESKCHECK_DICTS_H
#define DESKCHECK_DICTS_H

#include "buffer.h"

#if PY_VERSION_HEX >= 0x030D0000
/* Its values lie in an instance, where an assignment to an attribute changes the dict and nobody is told. */
static inline bool
changes_untold(PyObject *dict)
{
    PyDictValues *values = ((PyDictObject *)dict)->ma_values;
    return values && values->embedded;
}
#endif

#if PY_VERSION_HEX >= 0x030E0000
/* Dicts have no version any more. A watcher counts the changes of those whose version was asked for. */
static Map versions;
static uint64_t newest;
static int watcher = -1;

static int
dict_changes(PyDict_WatchEvent event, PyObject *dict, PyObject *Py_UNUSED(key), PyObject *Py_UNUSED(value))
{
    if (event == PyDict_EVENT_DEALLOCATED) map_del(&versions, (uint64_t)dict);
    else if (map_get(&versions, (uint64_t)dict)) map_put(&versions, (uint64_t)dict, (void *)(uintptr_t)++newest);
    return 0;
}

static uint64_t
dict_version(PyObject *dict)
{
    if (changes_untold(dict)) return ++newest;
    uint64_t known = (uint64_t)(uintptr_t)map_get(&versions, (uint64_t)dict);
    if (known) return known;
    if (watcher < 0) watcher = PyDict_AddWatcher(dict_changes);
    if (watcher < 0 || PyDict_Watch(watcher, dict) < 0) { PyErr_Clear(); return ++newest; }  /* others have all that there are */
    map_put(&versions, (uint64_t)dict, (void *)(uintptr_t)++newest);
    return newest;
}

/* No tracer is on: nothing is watched any more. */
static void
forget_versions(void)
{
    if (watcher >= 0 && PyDict_ClearWatcher(watcher) < 0) PyErr_Clear();
    watcher = -1;
    map_free(&versions);
}
#else
static inline uint64_t
dict_version(PyObject *dict)
{
#if PY_VERSION_HEX >= 0x030D0000
    static uint64_t newest = UINT64_MAX;
    if (changes_untold(dict)) return newest--;
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

static void forget_versions(void) {}
#endif

/* Another one after each change of a class: of what it holds, or of its name, which lies elsewhere. */
static inline uint64_t
class_version(PyTypeObject *cls)
{
    uint64_t version = cls->tp_dict ? dict_version(cls->tp_dict) : 0;
    if (cls->tp_flags & Py_TPFLAGS_HEAPTYPE)
        version += ((uint64_t)((PyHeapTypeObject *)cls)->ht_qualname >> 3) * 0x9E3779B97F4A7C15ull;
    return version;
}
#endif
