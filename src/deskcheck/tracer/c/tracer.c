/* The native tracer: the rules of reference.py and snapshot.py, in C on PyEval_SetTrace.

   What is frequent is done here, and says the same as the Python code beside it, byte for byte; what is
   rare (Decimals, patterns, itertools, subclasses of builtins, ...) is asked of that very Python code.
   Nothing here runs the program's code or keeps a reference to its objects between events. */
#include "collector.h"
#include "layout.h"
#include "heap.h"
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "state.h"
#include "deaths.h"
#include "objects.h"
#include "values.h"
#include "texts.h"
#include "frames.h"
#include "contents.h"
#include "blocks.h"
#include "account.h"
#include "emit.h"
#include "hook.h"
#include "calls_311.h"
#include "outermost.h"
#include "stdout.h"

/* What Python sees. */

static PyObject *
core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *tracer, *scope, *modules, *hidden;
    long long events;
    Py_ssize_t items, text_chars, objects, block_bytes;
    int depth, instructions, call_depth, repetitions, only_some;
    if (!PyArg_ParseTuple(args, "OO!O!LnnninpiipO!", &tracer, &PyDict_Type, &scope, &PySet_Type, &modules, &events, &items,
                          &text_chars, &objects, &depth, &block_bytes, &instructions, &call_depth, &repetitions,
                          &only_some, &PySet_Type, &hidden)) return NULL;
    Core *core = (Core *)type->tp_alloc(type, 0);
    if (!core) return NULL;
    core->tracer = tracer;
    core->scope = Py_NewRef(scope);
    core->modules = Py_NewRef(modules);
    core->hidden = Py_NewRef(hidden);
    core->events = events;
    core->instructions = instructions;
    core->items = items;
    core->text_chars = text_chars;
    core->objects = objects;
    core->depth = depth;
    core->call_depth = call_depth;
    core->repetitions = repetitions;
    core->only_some = only_some;
    core->block_bytes = (size_t)block_bytes;
    core->pending = PyList_New(0);
    return (PyObject *)core;
}

static void
thread_free(Thread *t)
{
    release(t);
    copies_free(t);
    for (size_t i = 0; t->loops.e && i <= t->loops.mask; i++)
        if (t->loops.e[i].key) loop_iterator_free(t->loops.e[i].value);
    free(t->loops.e);
    free(t->attached.p);
    for (size_t i = 0; t->frames.e && i <= t->frames.mask; i++)
        if (t->frames.e[i].key) {
            Entry *e = t->frames.e[i].value;
            entry_free(t, e);
        }
    while (t->nactive) { Rec *r = t->active[--t->nactive]; recount(t, r, -1); rec_drop(t, r); }
    for (int i = 0; i < t->nglobals; i++) {
        Globals *g = &t->globals[i];
        set_refs(t, &g->refs, 1, NULL, 0);
        for (int k = 0; k < g->n; k++) Py_DECREF(g->names[k].name);
        free(g->names);
        free(g->revisit.p);
        Py_DECREF(g->file);
    }
    free(t->globals);
    untouch(t);
    free(t->touched.p);
    free(t->returns);
    set_refs(t, &t->in_flight, 1, NULL, 0);
    let_go(t, &t->left, t->left.n);
    free(t->left.p);
    for (Obj *o = t->all, *next; o; o = next) {
        next = o->next;
        content_free(&o->c);
        free(o->revisit.p);
        free(o);
    }
    map_free(&t->frames);
    map_free(&t->raised);
    map_free(&t->objects);
    free(t->active); free(t->queue); free(t->refs.p); free(t->maybe.p); free(t->iterators.p); free(t->held.p); free(t->values.p);
    free(t->gone); free(t->replaced); free(t->segments); free(t->vals);
    Buf *all[] = {&t->output, &t->scratch, &t->locals, &t->stack, &t->global_text, &t->objects_text, &t->caller, &t->value};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_free(all[i]);
    Py_XDECREF(t->fallback);
    free(t);
}

static PyObject *
core_clear(Core *core, PyObject *unused)
{
    core->clear_later = core->inside > 0;
    if (core->inside) Py_RETURN_NONE;
#if HAS_LOCAL_EVENTS
    /* Where a traced thread runs on, to take the hook from this one has turned the events on for all code. */
    PyThreadState *ts = PyThreadState_Get();
    if (core->set_events && !ts->c_tracefunc && ts->interp->sys_tracing_threads) settrace_events_off(ts->interp, core->events_were);
    untrace_locally(core);
    /* Events that do not change are not looked at: two calls. */
    if (core->set_events && (call_with_ints(core->set_events, NULL, BEGINS) < 0 || call_with_ints(core->set_events, NULL, 0) < 0))
        PyErr_Clear();
    Py_CLEAR(core->set_events);
    Py_CLEAR(core->set_local_events);
    Py_CLEAR(core->disable);
#endif
    if (watching == core) { watching = NULL; bind_unbound(false); if (!all_lives) unwatch_all(); }
    Thread *threads = core->threads;
    core->threads = NULL;
    for (Thread *t = threads, *next; t; t = next) { next = t->next; thread_free(t); }
    for (size_t i = 0; core->infos.e && i <= core->infos.mask; i++)
        if (core->infos.e[i].key) {
            Info *f = core->infos.e[i].value;
            if (f->in_scope) {
                free(f->hidden); free(f->order); free(f->owner); free(f->op); free(f->depth); free(f->tags); free(f->pool);
                free(f->kept); free(f->caught); free(f->operands);
                free(f->left); free(f->comprehension); free(f->enters); free(f->guarded);
                free(f->lines); free(f->effect); free(f->then); free(f->stored); free(f->acts);
                for (int u = 0; u < f->nunits; u++) Py_XDECREF(f->texts[u]);
                free(f->texts);
            }
            if (f->spare) { free(f->spare->stack); free(f->spare); }
            Py_XDECREF(f->file);
            Py_XDECREF(f->held);
            Py_DECREF(f->code);
            free(f);
        }
    map_free(&core->infos);
    core->last_info = NULL;
    for (size_t i = 0; core->types.e && i <= core->types.mask; i++)
        if (core->types.e[i].key) {
            type_info_free(core->types.e[i].value);
        }
    map_free(&core->types);
    for (size_t i = 0; core->said.e && i <= core->said.mask; i++) if (core->said.e[i].key) said_free(core->said.e[i].value);
    map_free(&core->said);
    core->block_info = NULL;
    core->followed = NULL;
    Py_CLEAR(core->told);
    Py_RETURN_NONE;
}

static void
unmap_mirror(Core *core)
{
    if (core->mirror) munmap(core->mirror, core->mirror_room + sizeof *core->mirror);
    core->mirror = NULL;
}

static void
core_dealloc(Core *core)
{
    Py_XDECREF(core_clear(core, NULL));
    unmap_mirror(core);
    buf_free(&core->block);
    Py_XDECREF(core->scope);
    Py_XDECREF(core->modules);
    Py_XDECREF(core->hidden);
    Py_XDECREF(core->pending);
    Py_TYPE(core)->tp_free((PyObject *)core);
}

/* attach(fallback, number): trace the calling thread. */
static PyObject *
core_attach(Core *core, PyObject *args)
{
    PyObject *fallback;
    int number;
    if (!PyArg_ParseTuple(args, "Oi", &fallback, &number)) return NULL;
    uint64_t ident = PyThread_get_thread_ident();
    for (Thread *t = core->threads; t; t = t->next) if (t->ident == ident) t->ident = 0;  /* of a thread that has ended */
    Thread *t = must(calloc(1, sizeof *t));
    t->core = core;
    t->fallback = Py_NewRef(fallback);
    t->number = number;
    t->ident = ident;
    t->next_number = 1;
    t->next = core->threads;
    core->threads = t;
    core->on = true;
    watching = core;
    bind_unbound(true);
    watch(&PyType_Type);
    watch(&PyFunction_Type);
    PyEval_SetTrace(hook, (PyObject *)core);
#if HAS_LOCAL_EVENTS
    if (!core->wide && narrow(core, false) < 0) return NULL;
#endif
    Py_RETURN_NONE;
}

#if HAS_LOCAL_EVENTS
/* Have the events of code in the scope that begins. Returns whether it had none so far; -1: an error is set. */
static int
begins_locally(Thread *t, PyCodeObject *code)
{
    Info *info = info_of(t, code);
    if (!info) return -1;
    if (!info->in_scope || info->local) return 0;
    return trace_locally(t->core, info, true) < 0 ? -1 : 1;
}
#endif

/* begins(code, offset): what sys.monitoring calls when code runs for the first time. It need not do so again. */
static PyObject *
core_begins(Core *core, PyObject *const *args, Py_ssize_t n)
{
#if HAS_LOCAL_EVENTS
    Thread *t = current_thread(core);
    if (n < 2 || !t || !core->on || core->cut || core->wide || !PyCode_Check(args[0])) return Py_NewRef(core->disable);
    PyCodeObject *code = (PyCodeObject *)args[0];
    PyThreadState *ts = PyThreadState_Get();
    Collector collector = collector_waits(ts);
    go_in(core);
    int first = begins_locally(t, code);
    if (first < 0) report_failure(core, t);
    bool on = core->on;
    go_out(core);
    collector_goes_on(ts, collector);
    if (first > 0 && on) {
        PyFrameObject *frame = PyEval_GetFrame();  /* which has begun before anybody looked */
        if (frame && frame_code(frame->f_frame) == code && hook((PyObject *)core, frame, PyTrace_CALL, Py_None) < 0) return NULL;
    }
#endif
    return Py_NewRef(core->disable);
}

/* local_events(set_events, set_local_events, DISABLE): trace code in the scope alone. */
static PyObject *
core_local_events(Core *core, PyObject *args)
{
    PyObject *set_events, *set_local_events, *disable;
    if (!PyArg_ParseTuple(args, "OOO", &set_events, &set_local_events, &disable)) return NULL;
    core->disable = Py_NewRef(disable);
    core->set_events = Py_NewRef(set_events);
    core->set_local_events = Py_NewRef(set_local_events);
    Py_RETURN_NONE;
}

/* widen(on): trace all code, for a trace function of the program's; or only what is in the scope again. */
static PyObject *
core_widen(Core *core, PyObject *on)
{
#if HAS_LOCAL_EVENTS
    if (core->set_events && core->wide != (on == Py_True) && narrow(core, on == Py_True) < 0) return NULL;
#endif
    Py_RETURN_NONE;
}

static PyObject *
core_detach(Core *core, PyObject *unused)
{
    core->on = false;
    untrace_locally(core);
    PyEval_SetTrace(NULL, NULL);
    Py_RETURN_NONE;
}

static PyObject *
core_is_on_here(Core *core, PyObject *unused)
{
    PyThreadState *ts = PyThreadState_Get();
    return PyBool_FromLong(ts->c_tracefunc == hook && ts->c_traceobj == (PyObject *)core);
}

static PyObject *
core_stop(Core *core, PyObject *unused)
{
    untrace_opcodes(PyEval_GetFrame());
    core->on = false;
    Py_RETURN_NONE;
}

static PyObject *
core_flush(Core *core, PyObject *unused)
{
    if (hand_over(core) < 0) return NULL;
    Py_RETURN_NONE;
}

/* mirror(descriptor, size): keep what is not handed over yet in this shared memory too, for whoever finds this process
   dead: the number of the block, its size so far, and that much of it. */
static PyObject *
core_mirror(Core *core, PyObject *args)
{
    int descriptor;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "in", &descriptor, &size)) return NULL;
    void *p = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (p == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError);
    core->mirror = p;
    core->mirror_room = (size_t)size - sizeof *core->mirror;
    Py_RETURN_NONE;
}

/* For a forked child: what is buffered is the parent's to write. */
static PyObject *
core_drop(Core *core, PyObject *unused)
{
    core->on = false;
    untrace_locally(core);
    unmap_mirror(core);
    core->block.n = 0;
    PyList_SetSlice(core->pending, 0, PyList_GET_SIZE(core->pending), NULL);
    Py_RETURN_NONE;
}

static PyObject *
core_cut(Core *core, PyObject *unused)
{
    untrace_opcodes(PyEval_GetFrame());
    core->cut = true;
    untrace_locally(core);
    Py_RETURN_NONE;
}

static PyObject *
core_user(Core *core, PyObject *on)
{
    Thread *t = current_thread(core);
    if (t) t->user = PyObject_IsTrue(on);
    Py_RETURN_NONE;
}

static PyObject *
core_event(Core *core, PyObject *args)
{
    PyObject *frame;
    if (!PyArg_ParseTuple(args, "O!", &PyFrame_Type, &frame)) return NULL;
    if (hook((PyObject *)core, (PyFrameObject *)frame, PyTrace_CALL, Py_None) < 0) return NULL;
    Py_RETURN_NONE;
}

/* follow(frame, told): record a frame that has begun and run nothing; told(event, argument) is called at its exceptions and its end. */
static PyObject *
core_follow(Core *core, PyObject *args)
{
    PyFrameObject *frame;
    PyObject *told;
    if (!PyArg_ParseTuple(args, "O!O", &PyFrame_Type, &frame, &told)) return NULL;
    core->followed = frame;
    Py_XSETREF(core->told, Py_NewRef(told));
    core->picked_by = PyThreadState_Get()->c_profileobj;
#if HAS_LOCAL_EVENTS
    if (core->set_events && !core->wide && begins_locally(current_thread(core), frame_code(frame->f_frame)) < 0) return NULL;
#endif
    if (hook((PyObject *)core, frame, PyTrace_CALL, Py_None) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *
core_wrote(Core *core, PyObject *text)
{
    Thread *t = current_thread(core);
    if (t && core->on && !core->cut && PyUnicode_Check(text)) buf_text(&t->output, text);
    Py_RETURN_NONE;
}

/* counts(): what the tracer has done so far in all threads. */
static PyObject *
core_counts(Core *core, PyObject *unused)
{
    unsigned long long events = 0, looked_at = 0, anything = 0;
    for (Thread *t = core->threads; t; t = t->next) {
        events += (unsigned long long)t->index;
        looked_at += t->looked_at;
        anything += t->anything;
    }
    return Py_BuildValue("{sKsKsK}", "events", events, "looked_at", looked_at, "anything", anything);
}

static PyObject *
core_value(Core *core, PyObject *o)
{
    Thread *t = current_thread(core);
    if (!t) { PyErr_SetString(PyExc_RuntimeError, "this thread is not traced"); return NULL; }
    Buf b = {0};
    PyObject *text = NULL;
    bool alone = t->alone;
    t->alone = false;  /* it may be made up for this event (`__reduce__` of an iterator): nothing else may hold it */
    int failed = write_value(t, &b, o);
    t->alone = alone;
    if (!failed) text = PyUnicode_DecodeUTF8(b.p, (Py_ssize_t)b.n, "surrogatepass");
    buf_free(&b);
    return text;
}

static PyObject *
core_frame_number(Core *core, PyObject *frame)
{
    Thread *t = current_thread(core);
    Entry *e = t ? entry_of(t, frame) : NULL;
    if (!e || e->comprehension) Py_RETURN_NONE;
    return PyLong_FromLong(e->rec->number);
}

static PyObject *
core_depth_get(Core *core, void *unused)
{
    Thread *t = current_thread(core);
    return PyLong_FromLong(t ? t->depth : 0);
}

static int
core_depth_set(Core *core, PyObject *value, void *unused)
{
    Thread *t = current_thread(core);
    if (t) t->depth = (int)PyLong_AsLong(value);
    return 0;
}

static PyMethodDef core_methods[] = {
    {"attach", (PyCFunction)core_attach, METH_VARARGS, "attach(fallback, number): trace the calling thread"},
    {"begins", (PyCFunction)(void (*)(void))core_begins, METH_FASTCALL, "begins(code, offset): code runs for the first time"},
    {"local_events", (PyCFunction)core_local_events, METH_VARARGS, "trace code in the scope alone"},
    {"widen", (PyCFunction)core_widen, METH_O, "trace all code, or not"},
    {"detach", (PyCFunction)core_detach, METH_NOARGS, "stop tracing the calling thread"},
    {"is_on_here", (PyCFunction)core_is_on_here, METH_NOARGS, "whether this tracer is what the interpreter calls in this thread"},
    {"stop", (PyCFunction)core_stop, METH_NOARGS, "record nothing more"},
    {"cut", (PyCFunction)core_cut, METH_NOARGS, "record nothing more: a limit is reached"},
    {"flush", (PyCFunction)core_flush, METH_NOARGS, "hand over the block that is being filled"},
    {"mirror", (PyCFunction)core_mirror, METH_VARARGS, "mirror(descriptor, size): share what is not handed over yet"},
    {"drop", (PyCFunction)core_drop, METH_NOARGS, "forget what is buffered and record nothing more"},
    {"clear", (PyCFunction)core_clear, METH_NOARGS, "forget everything that is known of the program"},
    {"user", (PyCFunction)core_user, METH_O, "whether the program has a trace function of its own in this thread"},
    {"event", (PyCFunction)core_event, METH_VARARGS, "event(frame): a frame begins"},
    {"follow", (PyCFunction)core_follow, METH_VARARGS, "follow(frame, told): record a frame that has begun, and tell of its end"},
    {"wrote", (PyCFunction)core_wrote, METH_O, "wrote(text): the program wrote to standard output"},
    {"counts", (PyCFunction)core_counts, METH_NOARGS, "counts(): events, objects looked at, events at which anything may have changed"},
    {"value", (PyCFunction)core_value, METH_O, "value(object): its encoded value, within an event"},
    {"frame_number", (PyCFunction)core_frame_number, METH_O, "frame_number(frame): its number, or None"},
    {NULL},
};
static PyGetSetDef core_getset[] = {
    {"depth", (getter)core_depth_get, (setter)core_depth_set, "steps of reference from a variable", NULL},
    {NULL},
};
static PyTypeObject CoreType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "deskcheck.tracer._native.Core",
    .tp_basicsize = sizeof(Core),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = core_new,
    .tp_dealloc = (destructor)core_dealloc,
    .tp_methods = core_methods,
    .tp_getset = core_getset,
};

static PyTypeObject *
type_of_iterator(PyObject *iterable)
{
    PyObject *it = iterable ? PyObject_GetIter(iterable) : NULL;
    Py_XDECREF(iterable);
    if (!it) return NULL;
    PyTypeObject *k = Py_TYPE(it);
    Py_DECREF(it);
    return k;
}

/* setup(hidden globals, implicit names, addresses of types, callables, a class with an __init__) */
static PyObject *
setup(PyObject *module, PyObject *args)
{
    PyObject *hidden, *implicit, *looked_for, *callables, *class, *it, *address, *known;
    if (!PyArg_ParseTuple(args, "OOOO!O!", &hidden, &implicit, &looked_for, &PyDict_Type, &callables, &PyType_Type, &class)
        || !(it = PyObject_GetIter(looked_for))) return NULL;
    Py_ssize_t position = 0;
    while (PyDict_Next(callables, &position, &address, &known))
        map_put(&CALLABLES, PyLong_AsUnsignedLongLong(address), (void *)(uintptr_t)PyLong_AsUnsignedLongLong(known));
    SLOT_INIT = ((PyTypeObject *)class)->tp_init;
    while ((address = PyIter_Next(it))) {
        map_put(&LOOKED_FOR, PyLong_AsUnsignedLongLong(address), &LOOKED_FOR);
        Py_DECREF(address);
    }
    Py_DECREF(it);
    if (PyErr_Occurred()) return NULL;
    HIDDEN_GLOBALS = PyFrozenSet_New(hidden);
    IMPLICIT = PyFrozenSet_New(implicit);
    if (!HIDDEN_GLOBALS || !IMPLICIT) return NULL;
    Py_RETURN_NONE;
}

/* Lives().of(object): a number that this object alone has had, from when it was first asked until it dies; 0 where its death would
   not be noticed. Of two objects that have the same address, one after the other, it tells which is there. */
static PyObject *
lives_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    Lives *lives = (Lives *)type->tp_alloc(type, 0);
    if (!lives) return NULL;
    lives->next = all_lives;
    all_lives = lives;
    return (PyObject *)lives;
}

static void
lives_dealloc(Lives *lives)
{
    Lives **at = &all_lives;
    while (*at != lives) at = &(*at)->next;
    *at = lives->next;
    map_free(&lives->numbers);
    if (!watching && !all_lives) unwatch_all();
    Py_TYPE(lives)->tp_free((PyObject *)lives);
}

static PyObject *
lives_of(Lives *lives, PyObject *o)
{
    uintptr_t number = (uintptr_t)map_get(&lives->numbers, (uint64_t)o);
    if (!number && watch(&PyType_Type) && watch(Py_TYPE(o))) map_put(&lives->numbers, (uint64_t)o, (void *)(number = ++lives->newest));
    return PyLong_FromSize_t((size_t)number);
}

static PyMethodDef lives_methods[] = {
    {"of", (PyCFunction)lives_of, METH_O, "a number that this object alone has had; 0 where its death would not be noticed"},
    {NULL},
};
static PyTypeObject LivesType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "deskcheck.tracer._native.Lives",
    .tp_basicsize = sizeof(Lives),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = lives_new,
    .tp_dealloc = (destructor)lives_dealloc,
    .tp_methods = lives_methods,
};

static PyMethodDef functions[] = {
    {"evaluate", outermost_evaluate, METH_VARARGS, "evaluate(code, names): run code as the first frame of this thread"},
    {"call", (PyCFunction)(void (*)(void))outermost_call, METH_FASTCALL | METH_KEYWORDS, "call(frame, function, *args, **kwargs): call it as that frame would, or with none below"},
    {"show", outermost_show, METH_O, "show(error): as the interpreter shows an exception that leaves a program"},
    {"hold_collector", hold_collector, METH_NOARGS, "the garbage collector waits, but for where the program runs"},
    {"release_collector", release_collector, METH_NOARGS, "the garbage collector goes on as the program has left it"},
    {"hear", hear, METH_VARARGS, "hear(stream, *functions): call these with what an io.TextIOWrapper writes"},
    {"hear_no_more", hear_no_more, METH_O, "hear_no_more(hearing): end what `hear` returned"},
    {"ordered_keys", ordered_keys, METH_O, "the keys of an OrderedDict, in its order; runs none of the program's code"},
    {"setup", setup, METH_VARARGS, "setup(hidden_globals, implicit_names, looked_for, callables, a_class)"},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_native", .m_doc = "The core of the native tracer; native.py uses it.", .m_size = -1,
    .m_methods = functions,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    if (!is_laid_out_as_ours()) {
        PyErr_Format(PyExc_ImportError, "the tracer's core was compiled for Python %s, and this one keeps its state "
            "elsewhere", PY_VERSION);
        return NULL;
    }
    static const struct { PyObject **to; const char *text; } strings[] = {
        {&S_name, "__name__"}, {&S_inline, "inline"}, {&S_content, "content"}, {&S_place, "place"}, {&S_big, "big"},
        {&S_type_facts, "type_facts"}, {&S_code_facts, "code_facts"}, {&S_type_name, "type_name"},
        {&S_emit, "emit"}, {&S_give_up, "give_up"}, {&S_del, "__del__"},
        {&N_over, "over"}, {&N_next, "next"}, {&N_left, "left"}, {&N_iterators, "iterators"}, {&N_iterator, "iterator"},
        {&N_count, "count"}, {&N_line, "(line)"}, {&N_frame, "(frame)"}, {&N_stack, "(stack)"}, {&N_state, "(state)"},
        {&V_finished, "finished"}, {&V_running, "running"}, {&V_suspended, "suspended"}, {&V_created, "created"},
    };
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (!(*strings[i].to = PyUnicode_InternFromString(strings[i].text))) return NULL;
    EMPTY = PyTuple_New(0);
    buf_setup();
    PyObject *class = PyObject_CallFunction((PyObject *)&PyType_Type, "s(){}", "_");
    if (!class) return NULL;
    SUBTYPE_DEALLOC = ((PyTypeObject *)class)->tp_dealloc;
    Py_DECREF(class);
    PyObject *dict = PyDict_New();
    T_listiter = type_of_iterator(PyList_New(0));
    T_tupleiter = type_of_iterator(PyTuple_New(0));
    T_asciiiter = type_of_iterator(PyUnicode_FromString("a"));
    T_striter = type_of_iterator(PyUnicode_FromString("\xc3\xa9"));
    T_bytesiter = type_of_iterator(PyBytes_FromString(""));
    PyObject *list = PyList_New(0);
    T_listreviter = type_of_iterator(list ? PyObject_CallMethod(list, "__reversed__", NULL) : NULL);
    Py_XDECREF(list);
    T_rangeiter = type_of_iterator(PyObject_CallFunction((PyObject *)&PyRange_Type, "i", 0));
    T_dictkeyiter = type_of_iterator(Py_XNewRef(dict));
    T_dictvalueiter = type_of_iterator(PyObject_CallMethod(dict, "values", NULL));
    T_dictitemiter = type_of_iterator(PyObject_CallMethod(dict, "items", NULL));
    T_setiter = type_of_iterator(PySet_New(NULL));
    Py_XDECREF(dict);
#if PY_VERSION_HEX < 0x030C0000
    if (PyType_Ready(&UnboundType) < 0) return NULL;
#endif
    if (PyErr_Occurred() || PyType_Ready(&CoreType) < 0 || PyType_Ready(&LivesType) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (!module || PyModule_AddObjectRef(module, "Core", (PyObject *)&CoreType) < 0
        || PyModule_AddObjectRef(module, "Lives", (PyObject *)&LivesType) < 0) return NULL;
    return module;
}
