/* Deaths. Types without weak references: an object may be freed and another made at its address between two
   events. While a tracer is on, the types' tp_dealloc is ours, notes the death, and goes on. */

enum { OWN_TOOL = 4 };        /* of sys.monitoring, on 3.12 and later */
#define OWN_NAME "deskcheck"  /* of ours and of the observer of test suites there */

enum { MAX_WATCHED = 32 };
static struct { PyTypeObject *type; destructor original; bool on; } watched[MAX_WATCHED];
static int nwatched;         /* a type keeps its place for good: a type made meanwhile may have inherited what stands there */
static Core *watching;       /* whose threads are told */

static void note_death(PyObject *o);

/* The trashcan of list's and dict's own tp_dealloc works only where that is the type's tp_dealloc: so ours has one. */
#define DEATH(n)                                              \
    static void death_##n(PyObject *o)                        \
    {                                                         \
        note_death(o);                                        \
        if (watched[n].type != &PyList_Type && watched[n].type != &PyDict_Type) { watched[n].original(o); return; } \
        PyObject_GC_UnTrack(o);                               \
        Py_TRASHCAN_BEGIN(o, death_##n)                       \
        watched[n].original(o);                               \
        Py_TRASHCAN_END                                       \
    }
#define ALL(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) \
    f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)
ALL(DEATH)
#define NAME(n) death_##n,
static const destructor deaths[] = {ALL(NAME)};
#undef NAME
#undef DEATH
#undef ALL

static void
watch(PyTypeObject *type)
{
    int n = 0;
    while (n < nwatched && watched[n].type != type) n++;
    if (n == MAX_WATCHED || (n < nwatched && watched[n].on)) return;
    for (int i = 0; i < MAX_WATCHED; i++) if (type->tp_dealloc == deaths[i]) return;  /* inherited */
    if (n == nwatched) watched[nwatched++].type = type;
    watched[n].original = type->tp_dealloc;
    watched[n].on = true;
    type->tp_dealloc = deaths[n];
}

static void
unwatch_all(void)
{
    for (int i = 0; i < nwatched; i++) {
        if (watched[i].on) watched[i].type->tp_dealloc = watched[i].original;
        watched[i].on = false;
    }
    watching = NULL;
}

static void hold(Thread *t, PyObject *o) { Py_INCREF(o); pys_add(&t->held, o); }
static void
release(Thread *t)
{
    while (t->held.n) Py_DECREF(t->held.p[--t->held.n]);
}

/* Keep a value for the rest of the event, where other code could drop it while Python is asked. */
static inline void keep(Thread *t, PyObject *o) { if (!t->alone) hold(t, o); }
