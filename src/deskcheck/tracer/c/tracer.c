/* The native tracer: the rules of reference.py and _snapshot.py, in C on PyEval_SetTrace.

   What is frequent is done here, and says the same as the Python code beside it, byte for byte; what is
   rare (Decimals, patterns, itertools, subclasses of builtins, ...) is asked of that very Python code.
   Nothing here runs the program's code or keeps a reference to its objects between events. */
#include "heap.h"
#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- what is known of a code object (CodeFacts in _frames.py) ---------------------------------- */

enum {
    OP_RETURNS = 1, OP_YIELDS = 2, OP_LOOP_ENDS = 4, OP_GOES_ON = 8, OP_ASKS_NEXT = 16, OP_STARTING = 32,
    OP_NO_INTERRUPT = 64, OP_RERAISE = 128, OP_CLEANUP_THROW = 256, OP_JUMPS_BACK = 512, OP_YIELD_POINT = 1024,
    OP_CALLS = 2048,
};
typedef struct {             /* Act in _effects.py, which says what each is */
    int kind, since, slot, arguments, on_list, on_dict, on_set, on_text, key_kind, key;
    PyObject *name, *attribute, *method;
} Act;

typedef struct Info {
    PyCodeObject *code;      /* strong: its address stays its own */
    PyObject *file, *function, *facts;
    bool local, in_scope, iterates, optimized, is_module, is_comprehension, has_comprehensions, is_lambda, is_del, keeps_roots;
    int first_line, first_resume, nnames, nparams, free_from, nunits;
    PyObject **names;        /* borrowed from `held` */
    bool *hidden;
    int *order;              /* parameters, then by name */
    int *owner;              /* by code unit: offset of its instruction */
    uint16_t *op;
    int *depth;              /* slots before the instruction; -1 if it is not reachable */
    int *tags;               /* where its tags begin in `pool` */
    char *pool;              /* 1: a value */
    int *kept, *caught, *operands;
    int *comprehension;      /* first line of the comprehension that it lies in, 0 if none */
    signed char *enters;     /* -1: not asked yet */
    int *lines;              /* by code unit: its line, 0 if it has none */
    int *effect, *then;      /* by code unit: what it can change (`effects` in _effects.py) */
    uint64_t *stored;        /* by code unit: the fast locals that its line assigns */
    uint64_t cells;          /* those that other frames may assign too */
    Act *acts;
    int awaits;              /* up to where the iterable of a generator expression is not on the stack yet; -2: no such */
    PyObject **texts;        /* by code unit: text of the instruction that begins there, as far as asked */
    int *guarded;            /* pairs of offsets */
    int nguarded;
    PyObject *at;            /* tuple of texts for the caller's place */
    PyObject *held;
    uint64_t block;          /* the block that has its name, and the number there */
    int block_code;
    struct Rec *spare;       /* memory of a call that has ended */
} Info;

typedef struct { PyObject *name; Val v; } Extra;

typedef struct { struct Rec *rec; PyCodeObject *code; bool comprehension, kept; int last; } Entry;  /* of `frames`: see reference.py */

typedef struct Rec {
    Entry own;                   /* of its frame; a comprehension's is apart */
    int number, users, counted;  /* counted: how often its refs are roots */
    Info *info;
    Val *vals;
    Extra *extra;
    int nextra;
    Val *stack;
    int nstack, capstack;
    Objs refs, srefs;
    int line, last_line, last_offset;
    uint64_t seen;               /* the event at which its variables were looked at last */
    bool moves;                  /* an iterator is among its refs */
    bool propagating, closing, unfolding, after_comprehension;
    int pending;                 /* a kind, or -1 */
    Map counts;                  /* how often there was an event of a kind at a place, where that is limited */
    bool repeats, skipped;       /* its last event is left out; it was resumed unrecorded (_Frame) */
} Rec;

typedef struct {
    Info *info;                  /* any of the file's: names it */
    PyObject *file, *dict;
    uint64_t version, seen;      /* seen: the event at which everything that they reach was looked at last */
    Extra *names;
    int n, cap;
    Objs refs;
    Pys revisit;
} Globals;

typedef struct { PyObject *o; Obj *obj; int depth; } Queued;

typedef struct { IFrame *called, *frame; Info *info; int offset; bool directly, drains; uint64_t stored; } Return;  /* to where a call goes back */
enum { DEEP, REPEATED, CALLED, LEFT_OUT };

struct Core;
typedef struct Thread {
    struct Core *core;
    PyObject *fallback, *instruction;
    int number, next_frame, depth;
    int64_t index;
    uint64_t ident, stamp, next_number;
    Buf output;
    Map frames, raised, objects;
    Rec **active;
    int nactive, capactive;
    Globals *globals;
    int nglobals;
    Objs in_flight;
    bool dirty, user, doubt, alone, reread;
    struct {                     /* where the last event left off */
        IFrame *frame;
        Info *info;
        int offset, depth;       /* depth, tags: shape of the value stack, where the line is `shown` */
        const char *tags;
        bool after, resumed, single, shown, follows;  /* shown: a line, written; follows: one is at hand and nothing came between */
        uint64_t stored;
    } at;
    Return *returns;
    size_t nreturns, capreturns;
    bool hooked;                 /* an object was seen whose death runs code that is not recorded: it may die at any instruction */
    bool beyond;                 /* something lies beyond the limit on depth: how deep, that changes with who refers to it */
    bool wild, drains, returned_drains, iterates;  /* since the last event anything may have changed; iterators may have been drawn from; a loop's was */
    Objs touched;                /* what alone may have changed, if not */
    uint64_t quiet;              /* what was looked at in this event or later has not changed since */
    size_t fresh;                /* objects that this event has found */
    size_t iterators, exotics, moved;  /* objects of these kinds that are known; iterators seen at this event */
    Rec *parent;                 /* of a call: whose frame called */
    void *cached_frame;
    PyTypeObject *last_kind;
    TypeInfo *last_info;
    Entry *cached;
    Obj *all;
    Queued *queue;
    size_t nqueue, capqueue, nvisited, visited;
    Objs refs, maybe;
    Pys *revisit;                /* where references are noted, if they are */
    Pys held, values;
    struct { uint64_t number; size_t from, to; } *segments;
    size_t nsegments, capsegments;
    uint64_t *gone;
    size_t ngone, capgone;
    uint64_t *replaced;
    size_t nreplaced, capreplaced;
    Buf scratch, locals, stack, global_text, objects_text, caller, value;
    Val *vals;
    size_t capvals;
    uint64_t marks;
    int64_t left_out[LEFT_OUT];  /* since the last event (docs/format.md, Gaps) */
    struct Thread *next;
} Thread;

typedef struct Core {
    PyObject_HEAD
    PyObject *tracer;            /* the Python object, borrowed: it owns this one */
    PyObject *scope, *modules;
    bool instructions;
    int64_t events;
    uint64_t stamps;             /* of all threads: what is known of types is theirs together */
    Py_ssize_t items, text_chars, objects;
    int depth, call_depth, repetitions;  /* the latter: 0 is no limit */
    bool only_some;              /* code of the recorded files may run unseen */
    Map infos, types, said;
    Info *last_info;
    Thread *threads;
    int nthreads;
    bool on, cut, clear_later;
    int inside;                  /* how many threads are within `hook`: what they use must stay */
    Buf block;
    uint64_t block_number;
    int block_codes, block_thread, block_frame;
    int64_t block_index;
    Info *block_info;
    size_t block_bytes;
    bool emitting;
    struct { uint64_t block, size; char data[]; } *mirror;  /* shared with the watcher: what is not handed over yet */
    size_t mirror_room;
    PyObject *pending;           /* list of blocks */
    void *followed;              /* address of a frame whose exceptions and end are told, or NULL */
    PyObject *told;              /* is called then */
    void *picked_by;             /* address of the profile function that was at work when it began, or NULL */
    PyObject *set_events, *set_local_events, *disable;  /* of sys.monitoring, where only code in the scope is traced; else NULL */
    bool wide;                   /* all code is traced nevertheless: the program has a trace function */
    uint8_t events_were[32];
} Core;

static PyTypeObject *T_listiter, *T_tupleiter, *T_rangeiter, *T_dictkeyiter, *T_dictvalueiter, *T_dictitemiter, *T_setiter, *T_asciiiter,
    *T_striter, *T_bytesiter, *T_listreviter;
static PyObject *S_name, *S_inline, *S_content, *S_place, *S_big, *S_type_facts, *S_code_facts,
    *S_type_name, *S_emit, *S_give_up, *S_del;

/* ---- deaths ------------------------------------------------------------------------------------

   Types without weak references: an object may be freed and another made at its address between two
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

/* ---- objects ------------------------------------------------------------------------------------ */

static void
content_free(Content *c)
{
    free(c->items);
    for (size_t i = 0; i < c->nf; i++) Py_DECREF(c->fields[i].name);
    free(c->fields);
    free(c->refs);
    free(c->seen);
    free(c->stable);
    memset(c, 0, sizeof *c);
}

static void
obj_free(Thread *t, Obj *o)
{
    if (o->prev) o->prev->next = o->next; else t->all = o->next;
    if (o->next) o->next->prev = o->prev;
    content_free(&o->c);
    free(o->revisit.p);
    Py_XDECREF(o->weak);
    free(o);
}

static void
list_candidate(Thread *t, Obj *o)
{
    if (!o->listed) { o->listed = true; objs_add(&t->maybe, o); }
}


static inline void unuse(Thread *t, Obj *o) { if (--o->users == 0 && o->dead && !o->listed) obj_free(t, o); }

static void
edges_set(Thread *t, Obj *owner, Obj **refs, size_t n)
{
    Content *c = &owner->c;
    if (c->nrefs == n && (n == 0 || memcmp(c->refs, refs, n * sizeof(Obj *)) == 0)) return;
    Obj **old = c->refs;
    size_t nold = c->nrefs;
    c->refs = NULL;
    if (n) { c->refs = must(malloc(n * sizeof(Obj *))); memcpy(c->refs, refs, n * sizeof(Obj *)); }
    c->nrefs = n;
    for (size_t i = 0; i < nold; i++) if (old[i]->hint == owner) old[i]->hint = NULL;
    for (size_t i = 0; i < n; i++) {
        refs[i]->rc++;
        refs[i]->users++;
        if (!refs[i]->hint && refs[i] != owner) refs[i]->hint = owner;
    }
    for (size_t i = 0; i < nold; i++) { old[i]->rc--; list_candidate(t, old[i]); unuse(t, old[i]); }
    free(old);
}

/* Replace a list of what is referred to; `counted` times it is a root. */
static void
replace_refs(Thread *t, Objs *have, int counted, Obj **now, size_t n)
{
    if (have->n == n && (n == 0 || memcmp(have->p, now, n * sizeof(Obj *)) == 0)) return;
    for (size_t i = 0; i < n; i++) { now[i]->roots += (size_t)counted; now[i]->users++; }
    size_t nold = have->n;
    Obj **old = have->p;
    have->p = NULL;
    have->n = have->cap = 0;
    for (size_t i = 0; i < n; i++) objs_add(have, now[i]);
    for (size_t i = 0; i < nold; i++) {
        old[i]->roots -= (size_t)counted;
        if (counted) list_candidate(t, old[i]);
        unuse(t, old[i]);
    }
    free(old);
}

static inline void
set_refs(Thread *t, Objs *have, int counted, Obj **now, size_t n)
{
    if (n || have->n) replace_refs(t, have, counted, now, n);
}

static void
recount(Thread *t, Rec *r, int change)
{
    for (int k = 0; k < 2; k++) {
        Objs *l = k ? &r->srefs : &r->refs;
        for (size_t i = 0; i < l->n; i++) {
            l->p[i]->roots += (size_t)(ptrdiff_t)change;
            if (change < 0) list_candidate(t, l->p[i]);
        }
    }
    r->counted += change;
}

static void
gone_add(uint64_t **list, size_t *n, size_t *cap, uint64_t number)
{
    if (*n == *cap) *list = must(realloc(*list, (*cap = *cap * 2 + 8) * sizeof(uint64_t)));
    (*list)[(*n)++] = number;
}

/* Take the identity away from what lies at its address: it is another object now, or out of reach. */
static void
obj_kill(Thread *t, Obj *o)
{
    o->dead = true;
    t->iterators -= o->moves;
    t->exotics -= o->exotic;
    if (map_get(&t->objects, (uint64_t)o->address) == o) map_del(&t->objects, (uint64_t)o->address);
    o->users++;
    edges_set(t, o, NULL, 0);
    o->users--;
    if (!o->users && !o->listed) obj_free(t, o);
}

/* Whether a chain of contents leads from a root to it: a proof; NULL at its end proves nothing. */
static bool
surely_reached(Obj *o)
{
    for (int steps = 0; o && steps < 64; steps++, o = o->hint) {
        if (o->dead) return false;
        if (o->roots) return true;
    }
    return false;
}

/* Drop what cannot be reached from the roots any more, and note its numbers (Snapshotter.forget_unreachable). */
static void
forget(Thread *t)
{
    bool doubt = false;
    Objs later = {0};
    while (t->maybe.n) {
        Obj *o = t->maybe.p[--t->maybe.n];
        o->listed = false;
        if (o->dead) { if (!o->users) obj_free(t, o); continue; }
        if (o->roots || !o->known) continue;
        if (o->rc == 0) {
            gone_add(&t->gone, &t->ngone, &t->capgone, o->number);
            obj_kill(t, o);
        } else if (!surely_reached(o)) {
            o->listed = true;
            objs_add(&later, o);
            doubt = true;
        }
    }
    if (doubt) {
        Objs todo = {0};
        uint64_t mark = ++t->marks;
        for (Obj *o = t->all; o; o = o->next)
            if (o->roots && !o->dead) { o->mark = mark; objs_add(&todo, o); }
        while (todo.n) {
            Obj *o = todo.p[--todo.n];
            for (size_t i = 0; i < o->c.nrefs; i++) {
                Obj *ref = o->c.refs[i];
                if (ref->mark != mark && !ref->dead) { ref->mark = mark; objs_add(&todo, ref); }
            }
        }
        for (Obj *o = t->all; o; o = o->next)
            if (o->mark != mark && !o->dead && o->known) objs_add(&todo, o);
        for (size_t i = 0; i < later.n; i++) later.p[i]->listed = false;
        for (size_t i = 0; i < todo.n; i++) todo.p[i]->users++;
        for (size_t i = 0; i < todo.n; i++) {
            gone_add(&t->gone, &t->ngone, &t->capgone, todo.p[i]->number);
            obj_kill(t, todo.p[i]);
        }
        for (size_t i = 0; i < todo.n; i++) unuse(t, todo.p[i]);
        free(todo.p);
    }
    free(later.p);
    for (size_t i = 0; i < t->nreplaced; i++) gone_add(&t->gone, &t->ngone, &t->capgone, t->replaced[i]);
    t->nreplaced = 0;
}

static Map registered;       /* what the reference tracer wants to know of */
static Buf died;

static void
note_death(PyObject *o)
{
    if (has_subinterpreters() && PyInterpreterState_Get() != PyInterpreterState_Main()) return;  /* it may have a lock of its own */
    if (registered.used && map_get(&registered, (uint64_t)o)) {
        map_del(&registered, (uint64_t)o);
        buf_put(&died, (char *)&o, sizeof o);
    }
    if (!watching) return;
    for (Thread *t = watching->threads; t; t = t->next) {
        Obj *obj = map_get(&t->objects, (uint64_t)o);
        if (obj && !obj->weak) map_del(&t->objects, (uint64_t)o);
    }
}

/* ---- values ------------------------------------------------------------------------------------- */

static int write_value(Thread *t, Buf *b, PyObject *o);

static Val
text_val(const char *p, size_t n)
{
    return (Val){V_TEXT | (uint64_t)n << 8, hash_bytes(p, n)};
}

/* Whether to draw from such an iterator runs no code but its own: it calls no function. */
static bool
draws_quietly(PyTypeObject *k)
{
    PyTypeObject *const types[] = {T_listiter, T_tupleiter, T_rangeiter, T_dictkeyiter, T_dictvalueiter, T_dictitemiter, T_setiter,
                                   T_asciiiter, T_striter, T_bytesiter, T_listreviter, &PyEnum_Type, &PyZip_Type, &PyReversed_Type,
                                   &PyGen_Type, &PyCoro_Type};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) if (k == types[i]) return true;
    return false;
}

static TypeInfo *
type_info(Thread *t, PyTypeObject *kind)
{
    Core *core = t->core;
    if (kind == t->last_kind && t->last_info->checked == t->stamp && t->alone) return t->last_info;
    TypeInfo *known = map_get(&core->types, (uint64_t)kind);
    bool heap = kind->tp_flags & Py_TPFLAGS_HEAPTYPE;
    if (known) {
        if (!heap || (known->checked == t->stamp && t->alone) || (referent(known->weak) == (PyObject *)kind
            && (!kind->tp_dict || known->version == dict_version(kind->tp_dict)))) {
            known->checked = t->stamp;
            t->last_kind = kind;
            t->last_info = known;
            return known;
        }
    }
    PyObject *facts = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_type_facts, (PyObject *)kind));
    if (!facts) return NULL;
    known = map_get(&core->types, (uint64_t)kind);  /* another thread may have asked meanwhile */
    if (!known) { known = must(calloc(1, sizeof *known)); map_put(&core->types, (uint64_t)kind, known); }
    Py_CLEAR(known->weak);
    Py_CLEAR(known->head);
    for (int i = 0; i < known->nslots; i++) Py_DECREF(known->names[i]);
    known->nslots = 0;
    PyObject *slots, *head;
    int has_dict, hides, placed;
    if (!PyArg_ParseTuple(facts, "iOOppp", &known->mode, &head, &slots, &has_dict, &hides, &placed)) {
        Py_DECREF(facts);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++)  /* a type written in C may have members that are no objects */
        if (((PyMemberDescrObject *)PyTuple_GET_ITEM(PyTuple_GET_ITEM(slots, i), 1))->d_member->type != T_OBJECT_EX) {
            known->mode = M_CONTENT;
            head = Py_None;
        }
    known->head = Py_NewRef(head);
    if (head != Py_None) {
        Py_ssize_t n;
        const char *text = PyUnicode_AsUTF8AndSize(head, &n);
        if (!text) { Py_DECREF(facts); return NULL; }
        known->head_val = text_val(text, (size_t)n);
    }
    known->has_dict = has_dict;
    known->hides_private = hides;
    known->placed = placed;
    known->moves = placed || kind == &PyGen_Type || kind == &PyCoro_Type || (head != Py_None && PyUnicode_Check(head) && known->mode == M_CONTENT);
    known->exotic = known->moves ? !draws_quietly(kind) : (known->mode == M_OPAQUE || (known->mode == M_INSTANCE && hides)
        || (known->mode == M_CONTENT && !PyType_IsSubtype(kind, (PyTypeObject *)PyExc_BaseException)));
    known->weakly = kind->tp_weaklistoffset != 0 && kind != &PyList_Type && kind != &PyDict_Type;
    Py_ssize_t n = PyTuple_GET_SIZE(slots);
    known->names = must(realloc(known->names, (size_t)(n + 1) * sizeof(PyObject *)));
    known->offsets = must(realloc(known->offsets, (size_t)(n + 1) * sizeof(Py_ssize_t)));
    for (Py_ssize_t i = 0; i < n; i++) {
        PyObject *pair = PyTuple_GET_ITEM(slots, i);
        known->names[i] = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
        known->offsets[i] = ((PyMemberDescrObject *)PyTuple_GET_ITEM(pair, 1))->d_member->offset;
    }
    known->nslots = (int)n;
    known->version = kind->tp_dict ? dict_version(kind->tp_dict) : 0;
    if (heap) known->weak = PyWeakref_NewRef((PyObject *)kind, NULL);
    Py_DECREF(facts);
    return heap && !known->weak ? NULL : known;
}

static bool
is_own_function(Thread *t, PyObject *o)
{
    PyObject *globals = PyFunction_GET_GLOBALS(o);
    PyObject *name = globals && PyDict_Check(globals) ? PyDict_GetItemWithError(globals, S_name) : NULL;
    return name && PyUnicode_CheckExact(name) && PySet_Contains(t->core->modules, name) == 1;
}

/* Where an iterator stands, to tell it from another made at its address (_PLACES in _snapshot.py). */
static int
iterator_place(Thread *t, PyObject *o, uint64_t *over, double *position)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k == T_listiter || k == T_tupleiter || k == T_asciiiter) {
        SequenceIterator *it = (SequenceIterator *)o;
        *over = (uint64_t)it->over;
        *position = it->over ? (double)it->index : Py_HUGE_VAL;
        return 1;
    }
    if (k == T_rangeiter) {
        int64_t start, stop, step, len;
        range_left(o, &start, &stop, &step, &len);
        *over = (uint64_t)stop;
        *position = -(double)len;
        return 1;
    }
    if (k == T_dictkeyiter || k == T_dictvalueiter || k == T_dictitemiter || k == T_setiter) {
        PyObject *inner = k == T_setiter ? ((SetIterator *)o)->over : ((DictIterator *)o)->over;
        *over = (uint64_t)inner;
        *position = Py_HUGE_VAL;
        if (inner) {
            Py_ssize_t left = 0;
            if (k == T_setiter) {
                SetIterator *it = (SetIterator *)o;
                if (it->used == ((PySetObject *)inner)->used) left = it->len;
            } else {
                DictIterator *it = (DictIterator *)o;
                if (it->used == ((PyDictObject *)inner)->ma_used) left = it->len;
            }
            *position = -(double)left;
        }
        return 1;
    }
    PyObject *place = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_place, o));
    if (!place) return -1;
    if (place == Py_None) { Py_DECREF(place); return 0; }
    *over = PyLong_AsUnsignedLongLongMask(PyTuple_GET_ITEM(place, 0));
    *position = PyFloat_AsDouble(PyTuple_GET_ITEM(place, 1));
    Py_DECREF(place);
    return PyErr_Occurred() ? -1 : 1;
}

static bool
function_is_inert(PyObject *o)
{
    PyFunctionObject *f = (PyFunctionObject *)o;
    if (f->func_closure) return false;
    if (f->func_dict && PyDict_GET_SIZE(f->func_dict)) return false;
    if (f->func_defaults)
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(f->func_defaults); i++) {
            PyTypeObject *k = Py_TYPE(PyTuple_GET_ITEM(f->func_defaults, i));
            if (k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type || k == &PyByteArray_Type) return false;
        }
    if (f->func_kwdefaults && PyDict_GET_SIZE(f->func_kwdefaults)) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        while (PyDict_Next(f->func_kwdefaults, &at, &key, &value)) {
            PyTypeObject *k = Py_TYPE(value);
            if (k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type || k == &PyByteArray_Type) return false;
        }
    }
    return true;
}

static bool in_scope(Core *core, PyCodeObject *code) { return PyDict_Contains(core->scope, code->co_filename) == 1; }

static void
enqueue(Thread *t, PyObject *o, Obj *obj)
{
    if (t->nqueue == t->capqueue)
        t->queue = must(realloc(t->queue, (t->capqueue = t->capqueue * 2 + 64) * sizeof(Queued)));
    keep(t, o);
    t->queue[t->nqueue++] = (Queued){o, obj, t->depth + 1};
}

static bool
is_generator_type(PyTypeObject *k)
{
    return k == &PyGen_Type || k == &PyCoro_Type || k == &PyAsyncGen_Type;
}

/* Whether something is called when a weak reference ends, other than what keeps the caches of abstract base classes. */
static bool
calls_back(PyWeakReference *reference)
{
    PyObject *callback = reference->wr_callback;
    return callback && !(PyCFunction_Check(callback) && strcmp(((PyCFunctionObject *)callback)->m_ml->ml_name, "_destroy") == 0);
}

/* Whether code runs when an object dies that no event is seen of. */
static bool
dies_unseen(Thread *t, PyObject *o)
{
    PyTypeObject *k = Py_TYPE(o);
    if (PyType_SUPPORTS_WEAKREFS(k))
        for (PyWeakReference *w = *(PyWeakReference **)PyObject_GET_WEAKREFS_LISTPTR(o); w; w = w->wr_next)
            if (calls_back(w)) return true;
    if (!k->tp_finalize && !k->tp_del) return false;
    if (is_generator_type(k)) return !in_scope(t->core, generator_code(o));
    PyObject *del = _PyType_Lookup(k, S_del);
    return !del || !PyFunction_Check(del) || !in_scope(t->core, (PyCodeObject *)PyFunction_GET_CODE(del));
}

/* The object with an identity; NULL with `*cut` set where a limit is reached, or NULL with an error
   (Snapshotter._reference). */
static Obj *
reference(Thread *t, PyObject *o, bool weakly, bool placed, const char **cut)
{
    PyTypeObject *kind = Py_TYPE(o);
    Obj *obj = map_get(&t->objects, (uint64_t)o);
    uint64_t over = 0;
    double position = 0;
    *cut = NULL;
    if (t->revisit) pys_add(t->revisit, o);
    if (obj) {
        bool it = obj->type == kind && (!obj->weak || referent(obj->weak) == o);
        if (it && obj->placed) {
            if (iterator_place(t, o, &over, &position) < 0) return NULL;
            it = position >= obj->position && (over == obj->over || over == 0);
        }
        if (it) {
            if (obj->placed) { obj->over = over; obj->position = position; }
            objs_add(&t->refs, obj);
            if (!t->hooked && obj->visited < t->quiet) t->hooked = dies_unseen(t, o);
            if (obj->visited != t->stamp && (obj->visited < t->quiet || obj->moves || obj->touched)) {
                if (obj->visited < t->quiet) obj->only = EVERYWHERE;
                obj->visited = t->stamp;
                obj->touched = 0;
                t->moved += obj->moves;
                t->visited++;
                if (kind != &PyFunction_Type || !obj->known || obj->c.nf || !function_is_inert(o)) enqueue(t, o, obj);
            }
            return obj;
        }
        gone_add(&t->replaced, &t->nreplaced, &t->capreplaced, obj->number);
        t->reread = true;  /* a __class__ may have been assigned: what holds it holds another object now */
        obj_kill(t, obj);
    }
    if (t->depth >= t->core->depth) { *cut = "deep"; t->beyond = true; return NULL; }
    if ((Py_ssize_t)t->visited >= t->core->objects) { *cut = "many"; return NULL; }
    obj = must(calloc(1, sizeof *obj));
    obj->number = t->next_number++;
    obj->only = EVERYWHERE;
    obj->address = o;
    obj->type = kind;
    if (!t->hooked) t->hooked = dies_unseen(t, o);
    if (placed) {
        int found = iterator_place(t, o, &obj->over, &obj->position);
        if (found < 0) { free(obj); return NULL; }
        obj->placed = found;
    }
    if (weakly && !(obj->weak = PyWeakref_NewRef(o, NULL))) { free(obj); return NULL; }
    if (kind != &PyList_Type && kind != &PyDict_Type && kind != &PySet_Type && kind != &PyFunction_Type && kind != &PyByteArray_Type) {
        TypeInfo *info = type_info(t, kind);
        if (!info) { Py_XDECREF(obj->weak); free(obj); return NULL; }
        obj->moves = info->moves;
        obj->exotic = info->exotic || ((kind == &PyGen_Type || kind == &PyCoro_Type) && !in_scope(t->core, generator_code(o)));
        t->iterators += obj->moves;
        t->exotics += obj->exotic;
        t->moved += obj->moves;
    }
    if (!weakly && !(kind->tp_flags & Py_TPFLAGS_HEAPTYPE)) watch(kind);
    obj->next = t->all;
    if (t->all) t->all->prev = obj;
    t->all = obj;
    map_put(&t->objects, (uint64_t)o, obj);
    objs_add(&t->refs, obj);
    obj->visited = t->stamp;
    t->visited++;
    t->fresh++;
    enqueue(t, o, obj);
    return obj;
}

/* How a value is to be written that is no atom and no tuple. 1: by reference, 0: as `*text` says, -1: error. */
static int
by_reference(Thread *t, PyObject *o, bool *weakly, bool *placed, PyObject **text)
{
    PyTypeObject *kind = Py_TYPE(o);
    *weakly = *placed = false;
    if (kind == &PyList_Type || kind == &PyDict_Type || kind == &PyByteArray_Type) return 1;
    if (kind == &PySet_Type) { *weakly = true; return 1; }
    if (kind == &PyFunction_Type && is_own_function(t, o)) { *weakly = true; return 1; }
    TypeInfo *info = type_info(t, kind);
    if (!info) return -1;
    *weakly = info->weakly;
    *placed = info->placed;
    if (info->mode != M_INLINE) return 1;
    if (PyType_Check(o)) {
        Obj *known = map_get(&t->objects, (uint64_t)o);
        if (known && known->weak && referent(known->weak) == o) return 1;
    }
    Py_INCREF(o);
    *text = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_inline, o));
    Py_DECREF(o);
    if (!*text) return -1;
    if (*text != Py_None) return 0;
    Py_CLEAR(*text);
    return 1;
}

static void
write_cut(Thread *t, Buf *b, const char *why, const char *type)
{
    buf_lit(b, "{\"cut\":\"");
    buf_put(b, why, strlen(why));
    buf_lit(b, "\",\"type\":\"");
    buf_put(b, type, strlen(type));
    buf_lit(b, "\"}");
}

static int
write_items(Thread *t, Buf *b, const char *key, PyObject *o, Py_ssize_t n)
{
    if (t->depth >= t->core->depth) { write_cut(t, b, "deep", key); t->beyond = true; return 0; }
    keep(t, o);
    t->depth++;
    buf_lit(b, "{\"");
    buf_put(b, key, strlen(key));
    buf_lit(b, "\":[");
    Py_ssize_t limit = n > t->core->items ? t->core->items : n, at = 0;
    for (Py_ssize_t i = 0; i < limit; i++) {
        PyObject *item;
        Py_hash_t hash;
        if (PyTuple_CheckExact(o)) item = PyTuple_GET_ITEM(o, i);
        else if (!_PySet_NextEntry(o, &at, &item, &hash)) break;
        if (i) buf_byte(b, ',');
        if (write_value(t, b, item) < 0) return -1;
    }
    buf_byte(b, ']');
    if (n > limit) {
        buf_lit(b, ",\"length\":");
        buf_int(b, n);
        buf_lit(b, ",\"cut\":\"long\"");
    }
    buf_byte(b, '}');
    t->depth--;
    return 0;
}

static void
write_float(Buf *b, double x)
{
    if (x - x != 0) {
        buf_lit(b, "{\"float\":\"");
        const char *s = x != x ? "nan" : x > 0 ? "inf" : "-inf";
        buf_put(b, s, strlen(s));
        buf_lit(b, "\"}");
        return;
    }
    char *s = PyOS_double_to_string(x, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
    must(s);
    buf_put(b, s, strlen(s));
    PyMem_Free(s);
}

static int
write_big(Thread *t, Buf *b, PyObject *o)
{
    PyObject *text = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_big, o));
    if (!text) return -1;
    buf_text(b, text);
    Py_DECREF(text);
    return 0;
}

/* The encoded value (Snapshotter.value). */
static int
write_value(Thread *t, Buf *b, PyObject *o)
{
    PyTypeObject *k = Py_TYPE(o);
    int64_t value;
    if (o == Py_None) { buf_lit(b, "null"); return 0; }
    if (o == Py_True) { buf_lit(b, "true"); return 0; }
    if (o == Py_False) { buf_lit(b, "false"); return 0; }
    if (k == &PyLong_Type) {
        if (!int_value(o, &value)) { keep(t, o); return write_big(t, b, o); }
        buf_int(b, value);
        return 0;
    }
    if (k == &PyUnicode_Type) {
        Py_ssize_t n = PyUnicode_GET_LENGTH(readable(o));
        if (n <= t->core->text_chars) { buf_json(b, o, n); return 0; }
        buf_lit(b, "{\"str\":");
        buf_json(b, o, t->core->text_chars);
        buf_lit(b, ",\"length\":");
        buf_int(b, n);
        buf_lit(b, ",\"cut\":\"long\"}");
        return 0;
    }
    if (k == &PyFloat_Type) { write_float(b, PyFloat_AS_DOUBLE(o)); return 0; }
    if (k == &PyTuple_Type) return write_items(t, b, "tuple", o, PyTuple_GET_SIZE(o));
    if (k == &PyFrozenSet_Type) return write_items(t, b, "frozenset", o, PySet_GET_SIZE(o));
    if (k == &PyBytes_Type || k == &PyComplex_Type || k == &PyRange_Type || k == &PySlice_Type
        || k == &PyEllipsis_Type || k == &_PyNotImplemented_Type) { keep(t, o); return write_big(t, b, o); }
    keep(t, o);
    bool weakly, placed;
    PyObject *text;
    int how = by_reference(t, o, &weakly, &placed, &text);
    if (how < 0) return -1;
    if (how == 0) { buf_text(b, text); Py_DECREF(text); return 0; }
    const char *cut;
    Obj *obj = reference(t, o, weakly, placed, &cut);
    if (obj) {
        buf_lit(b, "{\"ref\":");
        buf_int(b, (int64_t)obj->number);
        buf_byte(b, '}');
        return 0;
    }
    if (!cut) return -1;
    text = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_type_name, (PyObject *)k));
    if (!text) return -1;
    buf_lit(b, "{\"cut\":\"");
    buf_put(b, cut, strlen(cut));
    buf_lit(b, "\",\"type\":");
    buf_json(b, text, PyUnicode_GET_LENGTH(text));
    buf_byte(b, '}');
    Py_DECREF(text);
    return 0;
}

static inline Val
str_val(Thread *t, PyObject *o)
{
    Py_ssize_t n = PyUnicode_GET_LENGTH(readable(o)), shown = n > t->core->text_chars ? t->core->text_chars : n;
    return (Val){V_STR | (uint64_t)n << 8, hash_bytes(PyUnicode_DATA(o), (size_t)(shown * PyUnicode_KIND(o)))};
}

/* What stands for the encoded value: numbers, visits and queues what the text would. */
static int
value_of(Thread *t, PyObject *o, Val *v)
{
    PyTypeObject *k = Py_TYPE(o);
    int64_t value;
    if (k == &PyLong_Type && int_value(o, &value)) { *v = (Val){V_INT, (uint64_t)value}; return 0; }
    if (k == &PyUnicode_Type) { *v = str_val(t, o); return 0; }
    if (o == Py_None) { *v = (Val){V_NONE, 0}; return 0; }
    if (k == &PyBool_Type) { *v = (Val){o == Py_True ? V_TRUE : V_FALSE, 0}; return 0; }
    if (k == &PyFloat_Type) {
        double x = PyFloat_AS_DOUBLE(o);
        uint64_t bits = 1;
        if (x == x) memcpy(&bits, &x, 8);
        *v = (Val){V_FLOAT | (uint64_t)(x != x) << 8, bits};
        return 0;
    }
    if (k == &PyTuple_Type && t->depth < t->core->depth && PyTuple_GET_SIZE(o) <= t->core->items) {
        Py_ssize_t n = PyTuple_GET_SIZE(o);
        uint64_t h = 0x9FB21C651E98DF25ull;
        keep(t, o);
        t->depth++;
        for (Py_ssize_t i = 0; i < n; i++) {
            Val item;
            if (value_of(t, PyTuple_GET_ITEM(o, i), &item) < 0) return -1;
            h = mix(mix(h, item.a), item.b);
        }
        t->depth--;
        *v = (Val){V_TUPLE | (uint64_t)n << 8, h};
        return 0;
    }
    Obj *known = k == &PyTuple_Type ? NULL : map_get(&t->objects, (uint64_t)o);
    if (known && known->visited >= t->quiet && !known->moves && !known->touched && known->type == k
        && (!known->weak || referent(known->weak) == o)) {  /* nothing has changed: the short way through `reference` */
        if (t->revisit) pys_add(t->revisit, o);
        objs_add(&t->refs, known);
        *v = (Val){V_REF, known->number};
        return 0;
    }
    if (k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type || known) {
        bool weakly = k == &PySet_Type, placed = false;
        PyObject *text = NULL;
        const char *cut;
        keep(t, o);
        int how = k == &PyList_Type || k == &PyDict_Type || k == &PySet_Type ? 1 : by_reference(t, o, &weakly, &placed, &text);
        if (how < 0) return -1;
        if (how == 1) {
            Obj *obj = reference(t, o, weakly, placed, &cut);
            if (obj) { *v = (Val){V_REF, obj->number}; return 0; }
            if (!cut) return -1;
        } else Py_DECREF(text);
    }
    keep(t, o);
    size_t start = t->scratch.n;
    if (write_value(t, &t->scratch, o) < 0) return -1;
    /* `{"ref":N}` is compared by number, so that one object is one value however it was found */
    const char *p = t->scratch.p + start;
    size_t n = t->scratch.n - start;
    if (n > 8 && memcmp(p, "{\"ref\":", 7) == 0) *v = (Val){V_REF, (uint64_t)strtoull(p + 7, NULL, 10)};
    else *v = text_val(p, n);
    t->scratch.n = start;
    return 0;
}

typedef struct { PyFrameObject *f; IFrame *i; Info *info; int offset; } View;
typedef struct { PyObject *name, *value; int slot; } Now;
typedef struct { Now *p; size_t n, cap; } Nows;

/* ---- contents ----------------------------------------------------------------------------------- */

enum { ITEMS_NONE, ITEMS_LIST, ITEMS_VALUES, ITEMS_PAIRS, ITEMS_TEXTS };
typedef struct {
    const char *head, *tail;
    size_t nhead, ntail;
    int form;
    PyObject *list;              /* ITEMS_LIST: a list; ITEMS_TEXTS: a list of texts */
    PyObject **items;            /* ITEMS_VALUES, ITEMS_PAIRS */
    Py_ssize_t n;                /* how many are shown */
    PyObject **names, **fields;  /* fields: values, or texts */
    Py_ssize_t nfields;
    bool fields_are_texts;
} Shape;

static inline PyObject *
list_item(PyObject *list, Py_ssize_t i)
{
    return i < PyList_GET_SIZE(list) ? PyList_GET_ITEM(list, i) : Py_None;
}

static int
write_item(Thread *t, Buf *b, const Shape *s, Py_ssize_t i)
{
    if (s->form == ITEMS_TEXTS) { buf_text(b, PyList_GET_ITEM(s->list, i)); return 0; }
    if (s->form == ITEMS_LIST) return write_value(t, b, list_item(s->list, i));
    if (s->form == ITEMS_VALUES) return write_value(t, b, s->items[i]);
    buf_byte(b, '[');
    if (write_value(t, b, s->items[2 * i]) < 0) return -1;
    buf_byte(b, ',');
    if (write_value(t, b, s->items[2 * i + 1]) < 0) return -1;
    buf_byte(b, ']');
    return 0;
}

static int
write_items_from(Thread *t, Buf *b, const Shape *s, Py_ssize_t from, Py_ssize_t to)
{
    for (Py_ssize_t i = from; i < to; i++) {
        if (i > from) buf_byte(b, ',');
        if (write_item(t, b, s, i) < 0) return -1;
    }
    return 0;
}

static int
write_field(Thread *t, Buf *b, const Shape *s, Py_ssize_t i)
{
    buf_json(b, s->names[i], PyUnicode_GET_LENGTH(s->names[i]));
    buf_byte(b, ':');
    if (s->fields_are_texts) { buf_text(b, s->fields[i]); return 0; }
    return write_value(t, b, s->fields[i]);
}

static inline Val
text_of_object(PyObject *text)
{
    /* one form in memory for one text: ASCII or UTF-8 */
    Py_ssize_t n = PyUnicode_GET_LENGTH(text);
    uint64_t h = hash_bytes(PyUnicode_DATA(text), (size_t)(n * PyUnicode_KIND(text)));
    return (Val){V_TEXT | (uint64_t)n << 8, h};
}

static inline bool same_name(PyObject *a, PyObject *b) { return a == b || PyUnicode_Compare(a, b) == 0; }

static Field *
find_field(Content *c, PyObject *name, size_t guess)
{
    if (guess < c->nf && same_name(c->fields[guess].name, name)) return &c->fields[guess];
    for (size_t i = 0; i < c->nf; i++) if (same_name(c->fields[i].name, name)) return &c->fields[i];
    return NULL;
}

/* Take in what an object consists of now; write what changed (Content.whole, Content.change_to). */
static int
apply(Thread *t, Obj *obj, const Shape *s)
{
    (void)obj;
    size_t wide = s->form == ITEMS_PAIRS ? 2 : 1, nvals = (size_t)s->n * wide;
    size_t need = nvals + (size_t)s->nfields;
    if (need > t->capvals) t->vals = must(realloc(t->vals, (t->capvals = need * 2) * sizeof(Val)));
    Val *items = t->vals, *fields = t->vals + nvals;
    t->refs.n = 0;
    for (size_t i = 0; i < nvals; i++) {
        PyObject *o;
        if (s->form == ITEMS_TEXTS) { items[i] = text_of_object(PyList_GET_ITEM(s->list, (Py_ssize_t)i)); continue; }
        o = s->form == ITEMS_LIST ? list_item(s->list, (Py_ssize_t)i) : s->items[i];
        if (value_of(t, o, &items[i]) < 0) return -1;
    }
    for (Py_ssize_t i = 0; i < s->nfields; i++) {
        if (s->fields_are_texts) fields[i] = text_of_object(s->fields[i]);
        else if (value_of(t, s->fields[i], &fields[i]) < 0) return -1;
    }
    return 0;
}

static int
commit(Thread *t, Obj *obj, const Shape *s)
{
    Content *c = &obj->c;
    size_t wide = s->form == ITEMS_PAIRS ? 2 : 1, nvals = (size_t)s->n * wide;
    Val *items = t->vals, *fields = t->vals + nvals;
    Val head = text_val(s->head, s->nhead), tail = text_val(s->tail, s->ntail);
    bool has_items = s->form != ITEMS_NONE;
    bool whole = !obj->known || !same(head, c->head) || !same(tail, c->tail) || has_items != c->has_items;
    bool items_differ = has_items && (whole || c->n != nvals || (nvals && memcmp(c->items, items, nvals * sizeof(Val)) != 0));
    bool fields_differ = whole || c->nf != (size_t)s->nfields;
    for (Py_ssize_t i = 0; i < s->nfields && !fields_differ; i++) {
        Field *f = find_field(c, s->names[i], (size_t)i);
        fields_differ = !f || !same(f->v, fields[i]);
    }
    if (!items_differ && !fields_differ) return 0;
    Buf *b = &t->objects_text;
    buf_lit(b, ",\"");
    buf_int(b, (int64_t)obj->number);
    buf_lit(b, "\":{");
    size_t nrefs = t->refs.n;      /* writing notes the references again */
    t->revisit = NULL;
    if (whole) {
        buf_put(b, s->head, s->nhead);
        if (has_items) {
            buf_lit(b, ",\"items\":[");
            if (write_items_from(t, b, s, 0, s->n) < 0) return -1;
            buf_byte(b, ']');
        }
        if (s->nfields) {
            buf_lit(b, ",\"fields\":{");
            for (Py_ssize_t i = 0; i < s->nfields; i++) {
                if (i) buf_byte(b, ',');
                if (write_field(t, b, s, i) < 0) return -1;
            }
            buf_byte(b, '}');
        }
        buf_put(b, s->tail, s->ntail);
    } else {
        if (items_differ) {
            size_t old = c->n / wide, now = (size_t)s->n, shorter = old < now ? old : now, same_head = 0, same_tail = 0;
            while (same_head < shorter && !memcmp(c->items + same_head * wide, items + same_head * wide, wide * sizeof(Val)))
                same_head++;
            while (same_tail < shorter - same_head
                   && !memcmp(c->items + (old - 1 - same_tail) * wide, items + (now - 1 - same_tail) * wide, wide * sizeof(Val)))
                same_tail++;
            buf_lit(b, "\"splice\":[");
            buf_int(b, (int64_t)same_head);
            buf_byte(b, ',');
            buf_int(b, (int64_t)(old - same_head - same_tail));
            buf_lit(b, ",[");
            if (write_items_from(t, b, s, (Py_ssize_t)same_head, (Py_ssize_t)(now - same_tail)) < 0) return -1;
            buf_lit(b, "]]");
        }
        if (fields_differ) {
            if (items_differ) buf_byte(b, ',');
            buf_lit(b, "\"fields\":{");
            bool first = true;
            for (Py_ssize_t i = 0; i < s->nfields; i++) {
                Field *f = find_field(c, s->names[i], (size_t)i);
                if (f && same(f->v, fields[i])) continue;
                if (!first) buf_byte(b, ',');
                first = false;
                if (write_field(t, b, s, i) < 0) return -1;
            }
            for (size_t k = 0; k < c->nf; k++) {
                bool there = k < (size_t)s->nfields && same_name(s->names[k], c->fields[k].name);
                for (Py_ssize_t i = 0; i < s->nfields && !there; i++) there = same_name(s->names[i], c->fields[k].name);
                if (there) continue;
                if (!first) buf_byte(b, ',');
                first = false;
                buf_json(b, c->fields[k].name, PyUnicode_GET_LENGTH(c->fields[k].name));
                buf_lit(b, ":{\"unbound\":true}");
            }
            buf_byte(b, '}');
        }
    }
    buf_byte(b, '}');
    t->refs.n = nrefs;
    c->head = head;
    c->tail = tail;
    c->has_items = has_items;
    if (items_differ || c->n != nvals) {
        if (nvals > c->cap) c->items = must(realloc(c->items, (c->cap = nvals + nvals / 4 + 4) * sizeof(Val)));
        if (nvals) memcpy(c->items, items, nvals * sizeof(Val));
        c->n = nvals;
    }
    if (fields_differ) {
        Field *now = s->nfields ? must(malloc((size_t)s->nfields * sizeof(Field))) : NULL;
        for (Py_ssize_t i = 0; i < s->nfields; i++) now[i] = (Field){Py_NewRef(s->names[i]), fields[i]};
        for (size_t i = 0; i < c->nf; i++) Py_DECREF(c->fields[i].name);
        free(c->fields);
        c->fields = now;
        c->nf = (size_t)s->nfields;
    }
    edges_set(t, obj, t->refs.p, t->refs.n);
    return 0;
}

static int
settle(Thread *t, Obj *obj, const Shape *s)
{
    if (apply(t, obj, s) < 0 || commit(t, obj, s) < 0) return -1;
    obj->known = true;
    return 0;
}

#define HEAD(s, text) ((s)->head = text, (s)->nhead = sizeof(text) - 1)

static void
long_tail(Shape *s, char *room, Py_ssize_t all)
{
    s->ntail = (size_t)sprintf(room, ",\"length\":%zd,\"cut\":\"long\"", all);
    s->tail = room;
}

enum { CHUNK = 64 };

/* The Val of an atom; false for anything else. */
static inline bool
atom_of(Thread *t, PyObject *o, Val *v)
{
    PyTypeObject *k = Py_TYPE(o);
    int64_t value;
    if (k == &PyLong_Type) { if (!int_value(o, &value)) return false; *v = (Val){V_INT, (uint64_t)value}; return true; }
    if (k == &PyUnicode_Type) { *v = str_val(t, o); return true; }
    if (o == Py_None) { *v = (Val){V_NONE, 0}; return true; }
    if (k == &PyBool_Type) { *v = (Val){o == Py_True ? V_TRUE : V_FALSE, 0}; return true; }
    if (k == &PyFloat_Type) {
        double x = PyFloat_AS_DOUBLE(o);
        uint64_t bits = 1;
        if (x == x) memcpy(&bits, &x, 8);
        *v = (Val){V_FLOAT | (uint64_t)(x != x) << 8, bits};
        return true;
    }
    return false;
}

/* Whether an address means a value for as long as the interpreter lives. */
static inline bool
lasts(PyObject *o)
{
    int64_t value;
    if (o == Py_None || o == Py_True || o == Py_False) return true;
    if (Py_IS_TYPE(o, &PyLong_Type) && int_value(o, &value)) return value >= -5 && value <= 256;
    return false;
}

static void
write_splice(Buf *b, const Obj *obj, size_t from, size_t removed)
{
    buf_lit(b, ",\"");
    buf_int(b, (int64_t)obj->number);
    buf_lit(b, "\":{\"splice\":[");
    buf_int(b, (int64_t)from);
    buf_byte(b, ',');
    buf_int(b, (int64_t)removed);
    buf_lit(b, ",[");
}

/* A list of atoms that is known: compare in place. 1: done; 0: look at it as at any other. */
static int
atoms_content(Thread *t, Obj *obj, const Shape *s)
{
    Content *c = &obj->c;
    size_t n = (size_t)s->n, old = c->n;
    if (!obj->known || c->nrefs || !same(c->tail, text_val(s->tail, s->ntail)) || n < old || old == 0) return 0;
    PyObject **items = ((PyListObject *)s->list)->ob_item;
    if (c->nseen > old) c->nseen = 0;
    if (n > c->capseen) {
        c->capseen = n + n / 2 + CHUNK;
        c->seen = must(realloc(c->seen, c->capseen * sizeof(PyObject *)));
        c->stable = must(realloc(c->stable, (c->capseen / CHUNK + 1) * sizeof(bool)));
    }
    size_t first = SIZE_MAX, last = 0;
    for (size_t from = 0; from < n; from += CHUNK) {
        size_t to = from + CHUNK < n ? from + CHUNK : n;
        bool whole = to <= c->nseen;
        if (whole && c->stable[from / CHUNK] && memcmp(c->seen + from, items + from, (to - from) * sizeof(PyObject *)) == 0)
            continue;
        bool stable = true;
        for (size_t i = from; i < to; i++) {
            PyObject *o = items[i];
            Val v;
            if (!atom_of(t, o, &v)) { c->nseen = 0; return 0; }
            stable &= lasts(o);
            if (i >= old || !same(v, c->items[i])) {
                if (first == SIZE_MAX) first = i;
                last = i + 1;
            }
        }
        memcpy(c->seen + from, items + from, (to - from) * sizeof(PyObject *));
        c->stable[from / CHUNK] = stable;
    }
    c->nseen = n;
    if (n > old) {
        if (first > old) first = old;
        last = n;
    }
    if (first == SIZE_MAX) return 1;
    /* The longest common head, then the longest common tail; of a list that has grown that is more work. */
    size_t removed;
    if (n == old) removed = last - first;
    else {
        size_t tail = 0;
        Val v;
        while (tail < old - (first < old ? first : old) && atom_of(t, items[n - 1 - tail], &v) && same(v, c->items[old - 1 - tail])) tail++;
        last = n - tail;
        removed = old - tail - first;
    }
    Buf *b = &t->objects_text;
    write_splice(b, obj, first, removed);
    if (write_items_from(t, b, s, (Py_ssize_t)first, (Py_ssize_t)last) < 0) return -1;
    buf_lit(b, "]]}");
    if (n > c->cap) c->items = must(realloc(c->items, (c->cap = n + n / 2 + 4) * sizeof(Val)));
    for (size_t i = first; i < (n == old ? last : n); i++) if (!atom_of(t, items[i], &c->items[i])) return -1;
    c->n = n;
    return 1;
}

/* A known list of which one item was set, or to which items were added. 1: done; 0: look at it as at any other. */
static int
one_item(Thread *t, Obj *obj, const Shape *s)
{
    Content *c = &obj->c;
    size_t n = (size_t)s->n, old = c->n, from = obj->only == AT_END ? old : (size_t)obj->only, to = obj->only == AT_END ? n : from + 1;
    bool same_tail = same(c->tail, s->ntail ? text_val(s->tail, s->ntail) : text_val("", 0));
    if (!same_tail || (obj->only == AT_END ? n < old : n != old)) return 0;
    if (obj->only != AT_END && from >= n) return 1;  /* it is not among those that are shown */
    PyObject **items = ((PyListObject *)s->list)->ob_item;
    t->refs.n = 0;
    if (n > c->cap) c->items = must(realloc(c->items, (c->cap = n + n / 2 + 4) * sizeof(Val)));
    if (obj->only != AT_END) {
        Val v;
        if (value_of(t, items[from], &v) < 0) return -1;
        if (same(v, c->items[from])) return 1;
        if (c->nrefs || t->refs.n) return 0;
        c->items[from] = v;
        if (from < c->nseen) {
            c->seen[from] = items[from];
            c->stable[from / CHUNK] &= lasts(items[from]);
        }
    } else {
        if (from == to) return 1;
        for (size_t i = from; i < to; i++) if (value_of(t, items[i], &c->items[i]) < 0) return -1;
        c->n = n;
        if (t->refs.n) {
            Objs all = {0};
            for (size_t i = 0; i < c->nrefs; i++) objs_add(&all, c->refs[i]);
            for (size_t i = 0; i < t->refs.n; i++) objs_add(&all, t->refs.p[i]);
            edges_set(t, obj, all.p, all.n);
            free(all.p);
        }
    }
    Buf *b = &t->objects_text;
    write_splice(b, obj, from, from < old ? 1 : 0);
    if (write_items_from(t, b, s, (Py_ssize_t)from, (Py_ssize_t)to) < 0) return -1;
    buf_lit(b, "]]}");
    return 1;
}

/* A generator or coroutine: where it stands, and the state of its frame (Snapshotter._generator). */
static PyObject *N_line, *N_frame, *N_stack, *N_state, *V_finished, *V_running, *V_suspended, *V_created;
static int view_of_iframe(Thread *t, IFrame *i, View *v);
static void collect_locals(Thread *t, View *views, int nviews, Nows *l);
static void view_stack(Thread *t, const View *v, Pys *to);
static PyObject *frame_number_of(Thread *t, void *frame);

static int
generator_content(Thread *t, Obj *obj, PyObject *o)
{
    PyGenObject *gen = (PyGenObject *)o;
    PyObject *state;
    Pys names = {0}, values = {0}, stack = {0};
    Nows locals = {0};
    IFrame *frame = (IFrame *)gen->gi_iframe;
    int failed = 0;
    View v;
    if (gen->gi_frame_state < FRAME_EXECUTING && view_of_iframe(t, frame, &v) < 0) return -1;
    /* only now: another thread may have run it while Python was asked about its code */
    if (gen->gi_frame_state >= FRAME_COMPLETED) state = V_finished;
    else if (gen->gi_frame_state == FRAME_EXECUTING) state = V_running;
    else {
        bool started = gen->gi_frame_state != FRAME_CREATED;
        state = started ? V_suspended : V_created;
        if (view_of_iframe(t, frame, &v) < 0) return -1;
        if (v.info->in_scope) {
            int line = started ? PyCode_Addr2Line(v.info->code, frame_lasti(frame)) : v.info->code->co_firstlineno;
            PyObject *text = line < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(line);
            hold(t, text);
            Py_DECREF(text);
            pys_add(&names, N_line);
            pys_add(&values, text);
            PyObject *number = started && frame->frame_obj ? frame_number_of(t, frame->frame_obj) : NULL;
            if (number) {
                hold(t, number);
                Py_DECREF(number);
                pys_add(&names, N_frame);
                pys_add(&values, number);
            }
            collect_locals(t, &v, 1, &locals);
            for (size_t i = 0; i < locals.n; i++) { pys_add(&names, locals.p[i].name); pys_add(&values, locals.p[i].value); }
            if (started) {
                view_stack(t, &v, &stack);
                PyObject *tuple = PyTuple_New((Py_ssize_t)stack.n);
                for (size_t i = 0; tuple && i < stack.n; i++) PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, Py_NewRef(stack.p[i]));
                if (!tuple) failed = -1;
                else { pys_add(&t->held, tuple); pys_add(&names, N_stack); pys_add(&values, tuple); }
            }
        }
    }
    pys_add(&names, N_state);
    pys_add(&values, state);
    Buf head = {0};
    if (PyGen_CheckExact(o)) buf_lit(&head, "\"kind\":\"generator\",\"type\":\"generator\",\"text\":\"generator ");
    else buf_lit(&head, "\"kind\":\"generator\",\"type\":\"coroutine\",\"text\":\"coroutine ");
    Buf name = {0};
    buf_json(&name, gen->gi_qualname, PyUnicode_GET_LENGTH(gen->gi_qualname));
    buf_put(&head, name.p + 1, name.n - 1);
    buf_free(&name);
    Shape s = {.head = head.p, .nhead = head.n, .tail = "", .names = names.p, .fields = values.p, .nfields = (Py_ssize_t)names.n};
    if (!failed) failed = settle(t, obj, &s);
    buf_free(&head);
    free(names.p);
    free(values.p);
    free(stack.p);
    free(locals.p);
    return failed;
}

/* Whether a known instance holds what it held, in the same order: 1 if so, 0 if that is to be looked at closely. */
static int
instance_unchanged(Thread *t, Obj *obj, PyObject *o, TypeInfo *info)
{
    Content *c = &obj->c;
    size_t at = 0;
    Val v;
    for (int i = 0; i < info->nslots; i++) {
        PyObject *value = *(PyObject **)((char *)o + info->offsets[i]);
        if (!value) continue;
        if (at == c->nf || c->fields[at].name != info->names[i]) return 0;
        if (value_of(t, value, &v) < 0) return -1;
        if (!same(v, c->fields[at++].v)) return 0;
    }
    if (info->has_dict) {
        Attributes own;
        PyObject *key, *value;
        attributes_of(o, &own);
        if (own.dict && !PyDict_CheckExact(own.dict)) return 0;
        while (next_attribute(&own, &key, &value)) {
            if (at == c->nf || c->fields[at].name != key) return 0;
            if (value_of(t, value, &v) < 0) return -1;
            if (!same(v, c->fields[at++].v)) return 0;
        }
    }
    return at == c->nf && same(c->head, info->head_val);
}

/* An instance: what its slots and its dict hold; of an exception, what it was made with too. */
static int
instance_content(Thread *t, Obj *obj, PyObject *o, TypeInfo *info)
{
    PyObject *args = info->mode == M_EXCEPTION ? ((PyBaseExceptionObject *)o)->args : NULL;
    if (obj->known && !info->hides_private && t->alone && !args) {
        int unchanged = instance_unchanged(t, obj, o, info);
        if (unchanged) return unchanged < 0 ? -1 : 0;
    }
    Pys names = {0}, values = {0};
    for (int i = 0; i < info->nslots; i++) {
        PyObject *value = *(PyObject **)((char *)o + info->offsets[i]);
        if (!value) continue;
        bool twice = false;
        for (size_t k = 0; k < names.n && !twice; k++) twice = same_name(names.p[k], info->names[i]);
        if (!twice) { pys_add(&names, info->names[i]); pys_add(&values, value); }
    }
    if (info->has_dict) {
        Attributes own;
        PyObject *key, *value;
        attributes_of(o, &own);
        if (own.dict && !PyDict_CheckExact(own.dict)) own.dict = NULL;
        while (next_attribute(&own, &key, &value)) {
            if (!PyUnicode_CheckExact(key)) continue;
            size_t k = 0;
            while (info->nslots && k < names.n && !same_name(names.p[k], key)) k++;
            if (info->nslots && k < names.n) values.p[k] = value;
            else { pys_add(&names, key); pys_add(&values, value); }
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < names.n; i++) {
        if (info->hides_private && PyUnicode_GET_LENGTH(names.p[i]) && PyUnicode_READ_CHAR(names.p[i], 0) == '_') continue;
        names.p[kept] = names.p[i];
        values.p[kept++] = values.p[i];
    }
    for (size_t i = 0; i < kept; i++) { keep(t, names.p[i]); keep(t, values.p[i]); }
    Shape s = {.names = names.p, .fields = values.p, .nfields = (Py_ssize_t)kept, .tail = ""};
    if (s.nfields > t->core->items) s.nfields = t->core->items;
    Py_ssize_t n;
    keep(t, info->head);
    s.head = PyUnicode_AsUTF8AndSize(info->head, &n);
    s.nhead = (size_t)n;
    int failed = !s.head;
    char room[64];
    if (args) {
        Val v;
        for (Py_ssize_t i = 0; i < s.nfields && !failed; i++) failed = value_of(t, s.fields[i], &v) < 0;  /* numbered first */
        hold(t, args);
        s.form = ITEMS_VALUES;
        s.items = &PyTuple_GET_ITEM(args, 0);
        s.n = PyTuple_GET_SIZE(args);
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
    }
    if (!failed) failed = settle(t, obj, &s) < 0;
    free(names.p);
    free(values.p);
    return failed ? -1 : 0;
}

static int
function_content(Thread *t, Obj *obj, PyObject *o)
{
    PyFunctionObject *f = (PyFunctionObject *)o;
    PyCodeObject *code = (PyCodeObject *)f->func_code;
    PyObject *free_names = f->func_closure ? PyCode_GetFreevars(code) : NULL;
    Pys names = {0}, values = {0};
    for (Py_ssize_t i = 0; f->func_closure && i < PyTuple_GET_SIZE(f->func_closure); i++) {
        PyObject *value = PyCell_GET(PyTuple_GET_ITEM(f->func_closure, i));
        if (!value) continue;
        hold(t, value);
        pys_add(&names, PyTuple_GET_ITEM(free_names, i));
        pys_add(&values, value);
    }
    Buf head = {0};
    buf_lit(&head, "\"kind\":\"function\",\"type\":\"function\",\"text\":");
    size_t at = head.n;
    buf_lit(&head, "\"function ");
    Buf name = {0};
    buf_json(&name, f->func_qualname, PyUnicode_GET_LENGTH(f->func_qualname));
    buf_put(&head, name.p + 1, name.n - 1);
    (void)at;
    Shape s = {.head = head.p, .nhead = head.n, .tail = "", .names = names.p, .fields = values.p,
               .nfields = (Py_ssize_t)names.n};
    if (s.nfields > t->core->items) s.nfields = t->core->items;
    int failed = settle(t, obj, &s);
    buf_free(&head);
    buf_free(&name);
    free(names.p);
    free(values.p);
    Py_XDECREF(free_names);
    return failed;
}

static int
fields_content(Thread *t, Obj *obj, const char *head, int n, PyObject **names, PyObject **values)
{
    Shape s = {.head = head, .nhead = strlen(head), .tail = "", .names = names, .fields = values, .nfields = n};
    int failed = 0;
    for (int i = 0; i < n; i++) failed |= !values[i];
    if (!failed) failed = settle(t, obj, &s) < 0;
    for (int i = 0; i < n; i++) Py_XDECREF(values[i]);
    return failed ? -1 : 0;
}

static PyObject *N_over, *N_next, *N_left, *N_iterators, *N_iterator, *N_count, *EMPTY;

#define ITERATOR(name) "\"kind\":\"iterator\",\"type\":\"" name "\""

static int
python_content(Thread *t, Obj *obj, PyObject *o)
{
    size_t mark = t->refs.n = 0;
    (void)mark;
    PyObject *found = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_content, o));
    if (!found) return -1;
    hold(t, found);
    Py_DECREF(found);
    PyObject *head = PyTuple_GET_ITEM(found, 0), *items = PyTuple_GET_ITEM(found, 1);
    PyObject *fields = PyTuple_GET_ITEM(found, 2), *tail = PyTuple_GET_ITEM(found, 3);
    Shape s = {.form = items == Py_None ? ITEMS_NONE : ITEMS_TEXTS, .list = items, .fields_are_texts = true};
    Py_ssize_t nhead, ntail;
    Buf room = {0};
    buf_text(&room, head);
    nhead = (Py_ssize_t)room.n;
    buf_text(&room, tail);
    ntail = (Py_ssize_t)room.n - nhead;
    s.head = room.p; s.nhead = (size_t)nhead;
    s.tail = room.p + nhead; s.ntail = (size_t)ntail;
    s.n = items == Py_None ? 0 : PyList_GET_SIZE(items);
    Pys names = {0}, texts = {0};
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(fields, &at, &key, &value)) { pys_add(&names, key); pys_add(&texts, value); }
    s.names = names.p; s.fields = texts.p; s.nfields = (Py_ssize_t)names.n;
    /* the references were noted when Python asked for the values' texts: `apply` finds none */
    Objs refs = t->refs;
    t->refs = (Objs){0};
    int failed = apply(t, obj, &s);
    free(t->refs.p);
    t->refs = refs;
    if (!failed) failed = commit(t, obj, &s);
    obj->known = true;
    free(names.p);
    free(texts.p);
    buf_free(&room);
    return failed;
}

/* See again what a content refers to that has not changed. 0: done; 1: it has changed nevertheless. */
static int
revisit(Thread *t, Obj *obj)
{
    Pys now = obj->revisit;
    size_t nrefs = t->refs.n, replaced = t->nreplaced;
    for (size_t i = 0; i < now.n; i++) keep(t, now.p[i]);
    for (size_t i = 0; i < now.n; i++) {
        Val v;
        if (value_of(t, now.p[i], &v) < 0) return -1;
    }
    t->refs.n = nrefs;
    return t->nreplaced != replaced;  /* a __class__ was assigned */
}

/* Look at an object: its content, what changed, what it refers to. */
static int
look_into(Thread *t, Queued q)
{
    PyObject *o = q.o;
    Obj *obj = q.obj;
    PyTypeObject *k = Py_TYPE(o);
    char room[64];
    t->depth = q.depth;
    if (k == &PyList_Type) {
        Shape s = {.form = ITEMS_LIST, .list = o, .n = PyList_GET_SIZE(o), .tail = ""};
        HEAD(&s, "\"kind\":\"list\",\"type\":\"list\"");
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
        int done = obj->only != EVERYWHERE && obj->known ? one_item(t, obj, &s) : 0;
        obj->only = EVERYWHERE;
        if (!done) done = atoms_content(t, obj, &s);
        if (done) return done < 0 ? -1 : 0;
        if (obj->known && obj->c.n == (size_t)s.n && (!s.ntail || same(obj->c.tail, text_val(s.tail, s.ntail)))) {
            Py_ssize_t i = 0;
            for (Val v; i < s.n; i++) {
                if (value_of(t, list_item(o, i), &v) < 0) return -1;
                if (!same(v, obj->c.items[i])) break;
            }
            if (i == s.n) return 0;
        }
        return settle(t, obj, &s);
    }
    if (k == &PyGen_Type || k == &PyCoro_Type) return generator_content(t, obj, o);
    if (k == &PyDict_Type) {
        uint64_t version = dict_version(o);
        int again = obj->known && version == obj->version && !t->reread ? revisit(t, obj) : 1;
        if (again <= 0) return again;
        Shape s = {.form = ITEMS_PAIRS, .n = PyDict_GET_SIZE(o), .tail = ""};
        HEAD(&s, "\"kind\":\"dict\",\"type\":\"dict\"");
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
        PyObject *key, *value;
        Py_ssize_t at = 0;
        Pys pairs = {0};
        while (pairs.n < 2 * (size_t)s.n && PyDict_Next(o, &at, &key, &value)) {
            keep(t, key);
            keep(t, value);
            pys_add(&pairs, key);
            pys_add(&pairs, value);
        }
        s.items = pairs.p;
        s.n = (Py_ssize_t)pairs.n / 2;
        obj->revisit.n = 0;
        t->revisit = &obj->revisit;
        /* the reference tracer numbers all keys before all values */
        int failed = 0;
        Val v;
        t->refs.n = 0;
        bool plain = true;
        for (size_t i = 0; i < pairs.n && plain; i += 2)
            plain = PyUnicode_CheckExact(pairs.p[i]) || PyLong_CheckExact(pairs.p[i]);
        for (size_t i = 0; i < pairs.n && !failed && !plain; i += 2) failed = value_of(t, pairs.p[i], &v);
        if (!failed) failed = settle(t, obj, &s);
        t->revisit = NULL;
        obj->version = version;
        free(pairs.p);
        return failed;
    }
    if (k == &PySet_Type) {
        Shape s = {.form = ITEMS_VALUES, .n = PySet_GET_SIZE(o), .tail = ""};
        HEAD(&s, "\"kind\":\"set\",\"type\":\"set\"");
        if (s.n > t->core->items) { long_tail(&s, room, s.n); s.n = t->core->items; }
        PyObject *item;
        Py_ssize_t at = 0;
        Py_hash_t hash;
        Pys items = {0};
        while (items.n < (size_t)s.n && _PySet_NextEntry(o, &at, &item, &hash)) { hold(t, item); pys_add(&items, item); }
        s.items = items.p;
        s.n = (Py_ssize_t)items.n;
        int failed = settle(t, obj, &s);
        free(items.p);
        return failed;
    }
    if (k == T_rangeiter) {
        int64_t start, stop, step, len;
        range_left(o, &start, &stop, &step, &len);
        Buf *b = &t->scratch;
        size_t at = b->n;
        buf_lit(b, "{\"range\":[");
        buf_int(b, start);
        buf_byte(b, ',');
        buf_int(b, stop);
        buf_byte(b, ',');
        buf_int(b, step);
        buf_lit(b, "]}");
        Content *c = &obj->c;
        Val v = text_val(b->p + at, b->n - at);
        if (!obj->known || !same(c->fields[0].v, v)) {
            Buf *w = &t->objects_text;
            buf_lit(w, ",\"");
            buf_int(w, (int64_t)obj->number);
            buf_lit(w, "\":{");
            if (!obj->known) buf_lit(w, ITERATOR("range_iterator") ",");
            buf_lit(w, "\"fields\":{\"left\":");
            buf_put(w, b->p + at, b->n - at);
            buf_lit(w, "}}");
            if (!obj->known) {
                c->fields = must(malloc(sizeof(Field)));
                c->fields[0].name = Py_NewRef(N_left);
                c->nf = 1;
                obj->known = true;
            }
            c->fields[0].v = v;
        }
        b->n = at;
        return 0;
    }
    if (k == T_listiter || k == T_tupleiter || k == T_asciiiter) {
        SequenceIterator *it = (SequenceIterator *)o;
        PyObject *names[] = {N_over, N_next};
        PyObject *values[] = {Py_NewRef(it->over ? it->over : EMPTY), PyLong_FromSsize_t(it->over ? it->index : 0)};
        return fields_content(t, obj, k == T_listiter ? ITERATOR("list_iterator") : k == T_tupleiter
            ? ITERATOR("tuple_iterator") : ITERATOR("str_ascii_iterator"), 2, names, values);
    }
    if (k == T_dictkeyiter || k == T_dictvalueiter || k == T_dictitemiter || k == T_setiter) {
        uint64_t over;
        double position;
        iterator_place(t, o, &over, &position);
        PyObject *names[] = {N_over, N_left}, *inner = (PyObject *)over;
        PyObject *values[] = {Py_NewRef(inner ? inner : Py_None), PyLong_FromSsize_t(inner ? (Py_ssize_t)-position : 0)};
        return fields_content(t, obj, k == T_dictkeyiter ? ITERATOR("dict_keyiterator") : k == T_dictvalueiter
            ? ITERATOR("dict_valueiterator") : k == T_setiter ? ITERATOR("set_iterator") : ITERATOR("dict_itemiterator"),
            2, names, values);
    }
    if (k == &PyEnum_Type) {
        EnumerateObject *it = (EnumerateObject *)o;
        PyObject *names[] = {N_iterator, N_count};
        PyObject *values[] = {Py_NewRef(it->inner), it->longindex ? Py_NewRef(it->longindex) : PyLong_FromSsize_t(it->index)};
        return fields_content(t, obj, ITERATOR("enumerate"), 2, names, values);
    }
    if (k == &PyZip_Type) {
        PyObject *names[] = {N_iterators}, *values[] = {Py_NewRef(((ZipObject *)o)->iterators)};
        return fields_content(t, obj, ITERATOR("zip"), 1, names, values);
    }
    if (k == &PyFunction_Type) {
        PyFunctionObject *f = (PyFunctionObject *)o;
        bool plain = !(f->func_dict && PyDict_GET_SIZE(f->func_dict)) && PyUnicode_CheckExact(f->func_qualname)
            && PyUnicode_FindChar(f->func_qualname, '>', 0, PyUnicode_GET_LENGTH(f->func_qualname), 1) < 0;
        if (plain && !f->func_defaults && !f->func_kwdefaults) return function_content(t, obj, o);
    } else {
        TypeInfo *info = type_info(t, k);
        if (!info) return -1;
        if (info->mode == M_INSTANCE || info->mode == M_EXCEPTION) return instance_content(t, obj, o, info);
        if (info->mode == M_OPAQUE && obj->known) return 0;
        if (PyType_Check(o) && ((PyTypeObject *)o)->tp_dict) {
            uint64_t version = dict_version(((PyTypeObject *)o)->tp_dict);
            int again = obj->known && version == obj->version && !t->reread ? revisit(t, obj) : 1;
            if (again <= 0) return again;
            obj->revisit.n = 0;
            t->revisit = &obj->revisit;
            int failed = python_content(t, obj, o);
            t->revisit = NULL;
            obj->version = version;
            return failed;
        }
    }
    return python_content(t, obj, o);
}

static int
look_at(Thread *t, Queued q)
{
    size_t from = t->objects_text.n;
    if (look_into(t, q) < 0) return -1;
    if (t->objects_text.n == from) return 0;
    if (t->nsegments == t->capsegments)
        t->segments = must(realloc(t->segments, (t->capsegments = t->capsegments * 2 + 16) * sizeof *t->segments));
    t->segments[t->nsegments].number = q.obj->number;
    t->segments[t->nsegments].from = from;
    t->segments[t->nsegments++].to = t->objects_text.n;
    return 0;
}

/* Write that objects are gone, in place of what was said of them in the same event. */
static void
write_gone(Thread *t)
{
    Buf *b = &t->objects_text;
    for (size_t k = 0; k < t->ngone; k++) {
        Buf text = {0};
        buf_lit(&text, ",\"");
        buf_int(&text, (int64_t)t->gone[k]);
        buf_lit(&text, "\":null");
        size_t i = 0;
        while (i < t->nsegments && t->segments[i].number != t->gone[k]) i++;
        if (i < t->nsegments) {
            size_t old = t->segments[i].to - t->segments[i].from;
            buf_room(b, text.n);
            memmove(b->p + t->segments[i].from + text.n, b->p + t->segments[i].to, b->n - t->segments[i].to);
            memcpy(b->p + t->segments[i].from, text.p, text.n);
            b->n = b->n - old + text.n;
            for (size_t j = 0; j < t->nsegments; j++)
                if (t->segments[j].from > t->segments[i].from) {
                    t->segments[j].from = t->segments[j].from - old + text.n;
                    t->segments[j].to = t->segments[j].to - old + text.n;
                }
        } else buf_put(b, text.p, text.n);
        buf_free(&text);
    }
}

/* Follow every reference from the roots (Snapshotter.finish). */
static int
finish(Thread *t)
{
    for (size_t i = 0; i < t->nqueue; i++)
        if (look_at(t, t->queue[i]) < 0) return -1;
    t->nvisited = t->nqueue;
    t->nqueue = 0;
    t->depth = 0;
    return 0;
}

/* ---- frames ------------------------------------------------------------------------------------- */

#define MAX_VIEWS 16

static int *
int_array(PyObject *list)
{
    Py_ssize_t n = PyList_GET_SIZE(list);
    int *a = must(malloc((size_t)(n + 1) * sizeof(int)));
    for (Py_ssize_t i = 0; i < n; i++) a[i] = (int)PyLong_AsLong(PyList_GET_ITEM(list, i));
    return a;
}

/* What is known of a code object; NULL if nothing yet. */
static inline Info *
known_info(Core *core, PyCodeObject *code)
{
    if (core->last_info && core->last_info->code == code) return core->last_info;
    Info *info = map_get(&core->infos, (uint64_t)code);
    if (info) core->last_info = info;
    return info;
}

/* What is known of a code object; made once, by Python (`code_facts` in native.py). */
static Info *
info_of(Thread *t, PyCodeObject *code)
{
    Core *core = t->core;
    Info *info = known_info(core, code);
    if (info) return info;
    PyObject *file = PyDict_GetItemWithError(core->scope, code->co_filename);
    if (!file && PyErr_Occurred()) return NULL;
    info = must(calloc(1, sizeof *info));
    info->code = (PyCodeObject *)Py_NewRef(code);
    if (!file) { map_put(&core->infos, (uint64_t)code, info); return info; }
    PyObject *d = QUIETLY(PyObject_CallMethodOneArg(t->fallback, S_code_facts, (PyObject *)code));
    Info *other = d ? map_get(&core->infos, (uint64_t)code) : NULL;
    if (!d || other) {  /* another thread has asked meanwhile */
        Py_XDECREF(d);
        Py_DECREF(code);
        free(info);
        return other;
    }
    if (d == Py_None) { Py_DECREF(d); map_put(&core->infos, (uint64_t)code, info); return info; }  /* not asked for */
    info->held = d;
    info->in_scope = true;
    info->file = Py_NewRef(file);
#define GET(name) PyDict_GetItemString(d, name)
#define INT(name) ((int)PyLong_AsLong(GET(name)))
    info->function = GET("function");
    info->facts = GET("facts");
    info->optimized = INT("optimized");
    info->iterates = INT("iterates");
    info->is_module = INT("is_module");
    info->is_comprehension = INT("is_comprehension");
    info->has_comprehensions = INT("has_comprehensions");
    info->is_lambda = INT("is_lambda");
    info->is_del = INT("is_del");
    info->keeps_roots = INT("keeps_roots");
    info->first_line = INT("first_line");
    info->first_resume = INT("first_resume");
    info->nparams = INT("nparams");
    info->free_from = INT("free_from");
    PyObject *names = GET("names");
    info->nnames = (int)PyTuple_GET_SIZE(names);
    info->names = &PyTuple_GET_ITEM(names, 0);
    int *hidden = int_array(GET("hidden"));
    info->hidden = must(malloc((size_t)info->nnames + 1));
    for (int i = 0; i < info->nnames; i++) info->hidden[i] = hidden[i];
    free(hidden);
    info->order = int_array(GET("order"));
    info->owner = int_array(GET("owner"));
    info->nunits = (int)PyList_GET_SIZE(GET("owner"));
    int *ops = int_array(GET("op"));
    info->op = must(malloc((size_t)info->nunits * sizeof(uint16_t)));
    for (int i = 0; i < info->nunits; i++) info->op[i] = (uint16_t)ops[i];
    free(ops);
    info->depth = int_array(GET("depth"));
    info->tags = int_array(GET("tags"));
    PyObject *pool = GET("pool");
    info->pool = must(malloc((size_t)PyBytes_GET_SIZE(pool) + 1));
    memcpy(info->pool, PyBytes_AS_STRING(pool), (size_t)PyBytes_GET_SIZE(pool));
    info->kept = int_array(GET("kept"));
    info->caught = int_array(GET("caught"));
    info->operands = int_array(GET("operands"));
    info->comprehension = int_array(GET("comprehension"));
    info->enters = must(malloc((size_t)info->nunits));
    memset(info->enters, -1, (size_t)info->nunits);
    info->guarded = int_array(GET("guarded"));
    info->lines = int_array(GET("lines"));
    info->awaits = INT("awaits");
    info->texts = must(calloc((size_t)info->nunits, sizeof(PyObject *)));
    info->effect = int_array(GET("effect"));
    info->then = int_array(GET("then"));
    PyObject *stored = GET("stored"), *acts = GET("acts");
    info->stored = must(calloc((size_t)info->nunits + 1, sizeof(uint64_t)));
    for (Py_ssize_t n = 0; n < PyList_GET_SIZE(stored) && n < info->nunits; n++)
        info->stored[n] = PyLong_AsUnsignedLongLongMask(PyList_GET_ITEM(stored, n));
    for (int n = 0; n < info->nnames && n < 64; n++)
        if (PyBytes_AS_STRING(info->code->co_localspluskinds)[n] & (CO_FAST_CELL | CO_FAST_FREE)) info->cells |= 1ull << n;
    info->acts = must(calloc((size_t)PyList_GET_SIZE(acts) + 1, sizeof(Act)));
    for (Py_ssize_t n = 0; n < PyList_GET_SIZE(acts); n++) {
        Act *act = &info->acts[n];
        if (!PyArg_ParseTuple(PyList_GET_ITEM(acts, n), "iiiOOOiiiiiii", &act->kind, &act->since, &act->slot, &act->name, &act->attribute,
                              &act->method, &act->arguments, &act->on_list, &act->on_dict, &act->on_set, &act->on_text,
                              &act->key_kind, &act->key)) return NULL;
        PyObject **texts[] = {&act->name, &act->attribute, &act->method};  /* interned: names of the code object; None is none */
        for (int k = 0; k < 3; k++) if (*texts[k] == Py_None) *texts[k] = NULL;
    }
    info->nguarded = (int)PyList_GET_SIZE(GET("guarded")) / 2;
    info->at = GET("at");
#undef INT
#undef GET
    if (PyErr_Occurred()) return NULL;
    map_put(&core->infos, (uint64_t)code, info);
    return info;
}

static inline int
op_at(const Info *info, int offset)
{
    return offset < 0 || offset / 2 >= info->nunits ? 0 : info->op[offset / 2];
}

static int
view_of(Thread *t, PyFrameObject *f, View *v)
{
    v->f = f;
    v->i = f->f_frame;
    v->info = info_of(t, frame_code(v->i));
    if (!v->info) return -1;
    int lasti = frame_lasti(v->i);
    v->offset = lasti < 0 || !v->info->in_scope ? lasti : v->info->owner[lasti / 2];
    return 0;
}

static int
view_of_iframe(Thread *t, IFrame *i, View *v)
{
    v->f = NULL;
    v->i = i;
    v->info = info_of(t, frame_code(i));
    if (!v->info) return -1;
    int lasti = frame_lasti(i);
    v->offset = lasti < 0 || !v->info->in_scope ? lasti : v->info->owner[lasti / 2];
    return 0;
}

static inline bool alive(PyObject *o) { return o && Py_REFCNT(o) != 0; }

/* The rules for stale pointers are those of _frames.py: a slot that the interpreter may have let go of is followed only when
   there is memory, in it a plausible count of references, and an object of a type. */
/* The kernel reads the mask before it finds that there is no such way to use it: a quarter of what `mincore` costs. */
static bool
readable_at(const void *p)
{
    return syscall(SYS_rt_sigprocmask, ~0, p, NULL, 8) != 0 && errno != EFAULT;
}

static PyTypeObject *
type_at(PyObject *o)
{
    if (((uintptr_t)o & 7) || !readable_at(o) || !readable_at(&o->ob_type)) return NULL;
    uint64_t count;
    memcpy(&count, o, sizeof count);
    return count > 0 && count < (uint64_t)1 << 32 ? Py_TYPE(o) : NULL;
}

static bool
holds_object(PyObject *o)
{
    PyTypeObject *kind = o ? type_at(o) : NULL, *meta = kind ? type_at((PyObject *)kind) : NULL;
    return meta && (meta == &PyType_Type || (type_at((PyObject *)meta) == &PyType_Type && PyType_FastSubclass(meta, Py_TPFLAGS_TYPE_SUBCLASS)));
}

/* Objects in `count` slots of the value stack that are data. doubtful: the topmost of them may be gone. */
static void
stack_values(Thread *t, const View *v, int count, int depth, const char *tags, bool doubtful, Pys *to)
{
    PyObject **slots = v->i->localsplus + v->info->nnames;
    for (int p = 0; p < count; p++) {
        if (tags && p < depth && !tags[p]) continue;
        PyObject *o = slots[p];
        if (doubtful ? !holds_object(o) : !alive(o)) continue;
        if (Py_TYPE(o) == &PyCoro_Type) {
            PyObject *found = PyObject_GetAttrString(o, "cr_code");
            PyCodeObject *code = (PyCodeObject *)found;
            PyObject *name = code ? code->co_name : NULL;
            bool comprehension = name && (PyUnicode_CompareWithASCIIString(name, "<listcomp>") == 0
                || PyUnicode_CompareWithASCIIString(name, "<setcomp>") == 0
                || PyUnicode_CompareWithASCIIString(name, "<dictcomp>") == 0);
            Py_XDECREF(found);
            if (comprehension) continue;
        }
        keep(t, o);
        pys_add(to, o);
    }
}

static inline const char *
tags_at(const View *v, int *depth)
{
    int unit = v->offset / 2;
    if (v->offset < 0 || unit >= v->info->nunits || v->info->depth[unit] < 0) { *depth = -1; return NULL; }
    *depth = v->info->depth[unit];
    return v->info->pool + v->info->tags[unit];
}

/* FrameView.stack */
static void
view_stack(Thread *t, const View *v, Pys *to)
{
    int first = v->info->nnames, top = v->i->stacktop, depth;
    const char *tags = tags_at(v, &depth);
    int count = top >= first ? top - first : top >= 0 || depth < 0 ? 0 : depth;
    if (top < 0 && op_at(v->info, v->offset) & OP_NO_INTERRUPT) count--;
    size_t from = to->n;
    stack_values(t, v, count, depth, tags, false, to);
    if (v->info->iterates) {
        PyObject *source = v->i->localsplus[0];
        if (!alive(source)) return;
        for (size_t i = from; i < to->n; i++) if (to->p[i] == source) return;
        hold(t, source);
        pys_add(to, source);
    }
}

/* FrameView.whole_stack: NULL for an empty slot */
static void
view_whole_stack(Thread *t, const View *v, Pys *to)
{
    int first = v->info->nnames, top = v->i->stacktop, depth;
    tags_at(v, &depth);
    int count = top >= first ? top - first : top >= 0 || depth < 0 ? 0 : depth;
    PyObject **slots = v->i->localsplus + first;
    for (int p = 0; p < count; p++) {
        if (slots[p]) hold(t, slots[p]);
        pys_add(to, slots[p]);
    }
    if (v->info->awaits >= v->offset && v->i->localsplus[0]) {
        hold(t, v->i->localsplus[0]);
        pys_add(to, v->i->localsplus[0]);
    }
}

/* FrameView.pending */
static void
view_pending(Thread *t, const View *v, bool unwinding, Pys *to)
{
    int depth, count;
    const char *tags = tags_at(v, &depth);
    if (depth < 0) return;
    if (unwinding || op_at(v->info, v->offset) & OP_RERAISE) count = v->info->caught[v->offset / 2];
    else count = v->info->kept[v->offset / 2];
    stack_values(t, v, count, depth, tags, op_at(v->info, v->offset) & OP_LOOP_ENDS, to);
}

/* FrameView._operand_slots */
static int
operand_slots(const View *v, int *first)
{
    int depth;
    tags_at(v, &depth);
    if (depth < 0 || v->i->stacktop >= 0) return 0;
    int size = v->info->operands[v->offset / 2];
    *first = depth - size;
    return size;
}

static bool
starting(const View *v)
{
    return op_at(v->info, v->offset) & OP_STARTING;
}

/* The object in a fast local, its cell opened; NULL if it is unbound (FrameView._fast). */
static inline PyObject *
fast_local(const View *v, int slot)
{
    PyObject *o = v->i->localsplus[slot];
    if (!o) {
        if (slot < v->info->free_from || (v->offset >= 0 && !starting(v))) return NULL;
        PyObject *closure = PyFunction_GET_CLOSURE(frame_function(v->i));
        o = closure ? PyTuple_GET_ITEM(closure, slot - v->info->free_from) : NULL;
        if (!o) return NULL;
    }
    if (Py_IS_TYPE(o, &PyCell_Type)) o = PyCell_GET(o);
    return o;
}


static void
nows_add(Nows *l, PyObject *name, PyObject *value, int slot)
{
    if (l->n == l->cap) l->p = must(realloc(l->p, (l->cap = l->cap * 2 + 16) * sizeof(Now)));
    l->p[l->n++] = (Now){name, value, slot};
}

static int
by_name(const void *a, const void *b)
{
    return PyUnicode_Compare(((const Now *)a)->name, ((const Now *)b)->name);
}

static int
slot_of(const Info *info, PyObject *name)
{
    for (int i = 0; i < info->nnames; i++) if (info->names[i] == name) return i;
    for (int i = 0; i < info->nnames; i++) if (same_name(info->names[i], name)) return i;
    return -1;
}

static void
put_name(Nows *l, const Info *home, PyObject *name, PyObject *value)
{
    for (size_t i = 0; i < l->n; i++)
        if (same_name(l->p[i].name, name)) { l->p[i].value = value; return; }
    nows_add(l, name, value, slot_of(home, name));
}

static bool
in_namespace(PyObject *name, PyObject *implicit)
{
    return PyUnicode_CheckExact(name) && PySet_Contains(implicit, name) != 1
        && !(PyUnicode_GET_LENGTH(name) && PyUnicode_READ_CHAR(name, 0) == '.');
}

static PyObject *IMPLICIT;
static Map LOOKED_FOR;       /* types of the operands of calls into C that are looked at */

/* Variables of a frame and of the comprehensions running in it: parameters, then by name (_merged). */
static void
collect_locals(Thread *t, View *views, int nviews, Nows *l)
{
    View *v = &views[0];
    const Info *info = v->info;
    l->n = 0;
    bool in_order = nviews == 1;
    for (int k = 0; k < info->nnames; k++) {
        int slot = info->order[k];
        if (info->hidden[slot]) continue;
        PyObject *o = fast_local(v, slot);
        if (o) nows_add(l, info->names[slot], o, slot);
    }
    if (!info->optimized && !info->is_module) {
        PyObject *names = v->i->f_locals, *key, *value;
        if (names && PyDict_CheckExact(names)) {
            Py_ssize_t at = 0;
            while (PyDict_Next(names, &at, &key, &value))
                if (in_namespace(key, IMPLICIT)) put_name(l, info, key, value);
            in_order = false;
        }
    }
    for (int k = 1; k < nviews; k++) {
        const Info *inner = views[k].info;
        PyObject *varnames = PyCode_GetVarnames(inner->code);
        for (Py_ssize_t i = 0; varnames && i < PyTuple_GET_SIZE(varnames); i++)
            for (size_t j = 0; j < l->n; j++)
                if (same_name(l->p[j].name, PyTuple_GET_ITEM(varnames, i))) {
                    memmove(&l->p[j], &l->p[j + 1], (l->n - j - 1) * sizeof(Now));
                    l->n--;
                    break;
                }
        Py_XDECREF(varnames);
        for (int i = 0; i < inner->nnames; i++) {
            int slot = inner->order[i];
            PyObject *o = inner->hidden[slot] ? NULL : fast_local(&views[k], slot);
            if (o) put_name(l, info, inner->names[slot], o);
        }
    }
    if (!in_order) {
        size_t at = 0;
        for (int p = 0; p < info->nparams; p++)
            for (size_t j = at; j < l->n; j++)
                if (l->p[j].slot == p) {
                    Now found = l->p[j];
                    memmove(&l->p[at + 1], &l->p[at], (j - at) * sizeof(Now));
                    l->p[at++] = found;
                    break;
                }
        if (l->n > at) qsort(l->p + at, l->n - at, sizeof(Now), by_name);
    }
    for (size_t i = 0; i < l->n; i++) keep(t, l->p[i].value);
}

static Val *
cell_of(Rec *r, const Now *now)
{
    if (now->slot >= 0) return &r->vals[now->slot];
    for (int i = 0; i < r->nextra; i++) if (same_name(r->extra[i].name, now->name)) return &r->extra[i].v;
    r->extra = must(realloc(r->extra, (size_t)(r->nextra + 1) * sizeof(Extra)));
    r->extra[r->nextra] = (Extra){Py_NewRef(now->name), {V_UNBOUND, 0}};
    return &r->extra[r->nextra++].v;
}

static void
write_name(Buf *b, PyObject *name)
{
    buf_byte(b, b->n ? ',' : '{');
    buf_json(b, name, PyUnicode_GET_LENGTH(name));
    buf_byte(b, ':');
}

static bool
among(const Nows *l, PyObject *name)
{
    for (size_t i = 0; i < l->n; i++) if (same_name(l->p[i].name, name)) return true;
    return false;
}

/* Whether an iterator that was on the stack lives on elsewhere: it was drawn from before it left. */
static bool
moved_unseen(Thread *t, Obj *obj, int steps)
{
    if (!obj->moves || obj->visited == t->stamp || obj->dead) return false;
    if (map_get(&t->objects, (uint64_t)obj->address) == obj && !(obj->weak && referent(obj->weak) != obj->address)) return true;
    for (size_t i = 0; i < obj->c.nrefs && steps < 8; i++) if (moved_unseen(t, obj->c.refs[i], steps + 1)) return true;
    return false;
}

static int
stack_changes(Thread *t, Rec *r, Pys *stack, Buf *stack_text)
{
    t->refs.n = 0;
    bool differs = (size_t)r->nstack != stack->n;
    if ((size_t)r->capstack < stack->n)
        r->stack = must(realloc(r->stack, (size_t)(r->capstack = (int)stack->n * 2) * sizeof(Val)));
    for (size_t i = 0; i < stack->n; i++) {
        Val v = {V_UNBOUND, 0};
        if (stack->p[i] && value_of(t, stack->p[i], &v) < 0) return -1;
        if (i >= (size_t)r->nstack || !same(v, r->stack[i])) differs = true;
        r->stack[i] = v;
    }
    r->nstack = (int)stack->n;
    if (t->iterators && t->quiet != t->stamp)
        for (size_t i = 0; i < r->srefs.n && !t->doubt; i++) t->doubt = moved_unseen(t, r->srefs.p[i], 0);
    set_refs(t, &r->srefs, r->counted, t->refs.p, t->refs.n);
    if (differs) {
        buf_byte(stack_text, '[');
        for (size_t i = 0; i < stack->n; i++) {
            if (i) buf_byte(stack_text, ',');
            if (!stack->p[i]) buf_lit(stack_text, "{\"unbound\":true}");
            else if (write_value(t, stack_text, stack->p[i]) < 0) return -1;
        }
        buf_byte(stack_text, ']');
    }
    return 0;
}

/* Whether the variables refer to what they referred to, and none of that may have changed: all that was assigned is atoms. */
static bool
refers_as_before(Thread *t, const Rec *r, const View *v, uint64_t stored)
{
    if (t->touched.n || r->moves || v->info->nnames > 64 || (stored & ~((2ull << (v->info->nnames - 1)) - 1))) return false;
    for (; stored; stored &= stored - 1) {
        int slot = __builtin_ctzll(stored);
        PyObject *o = v->i->localsplus[slot];
        if ((r->vals[slot].a & 0xFF) > V_STR) return false;
        if (o && !Py_IS_TYPE(o, &PyLong_Type) && !Py_IS_TYPE(o, &PyUnicode_Type) && !Py_IS_TYPE(o, &PyFloat_Type)
            && !Py_IS_TYPE(o, &PyBool_Type) && o != Py_None) return false;
    }
    return true;
}

/* As `frame_changes` for the variables of one frame of a function: no names are looked up. */
static int
fast_changes(Thread *t, Rec *r, View *v, Buf *changed)
{
    const Info *info = v->info;
    bool lost = false;
    uint64_t stored = r->seen >= t->quiet && t->at.frame == v->i ? t->at.stored | info->cells : ~0ull;
    t->refs.n = 0;
    r->seen = t->stamp;
    bool same_refs = info->nnames && refers_as_before(t, r, v, stored);
    for (int k = 0; k < info->nnames; k++) {
        int slot = info->order[k];
        if (info->hidden[slot]) continue;
        if (slot < 64 && !(stored >> slot & 1) && (same_refs || (r->vals[slot].a & 0xFF) <= V_STR)) continue;  /* nobody has assigned it */
        PyObject *o = fast_local(v, slot);
        Val now = {V_UNBOUND, 0}, *cell = &r->vals[slot];
        if (!o) { lost |= cell->a != V_UNBOUND; continue; }
        if (value_of(t, o, &now) < 0) return -1;
        if (same(now, *cell)) continue;
        size_t nrefs = t->refs.n;
        write_name(changed, info->names[slot]);
        if (write_value(t, changed, o) < 0) return -1;
        t->refs.n = nrefs;
        *cell = now;
    }
    for (int k = 0; lost && k < info->nnames; k++) {
        int slot = info->order[k];
        if (info->hidden[slot] || r->vals[slot].a == V_UNBOUND || fast_local(v, slot)) continue;
        r->vals[slot] = (Val){V_UNBOUND, 0};
        write_name(changed, info->names[slot]);
        buf_lit(changed, "{\"unbound\":true}");
    }
    if (same_refs && !t->refs.n) return 0;
    r->moves = false;
    for (size_t i = 0; i < t->refs.n; i++) r->moves |= t->refs.p[i]->moves;
    set_refs(t, &r->refs, r->counted, t->refs.p, t->refs.n);
    return 0;
}

/* Encode a frame's variables and stack; write what differs from its last event (_frame_changes). */
static int
frame_changes(Thread *t, Rec *r, View *views, int nviews, Pys *stack, Buf *changed, Buf *stack_text)
{
    static Nows l;     /* the GIL is held, and what runs in between comes back to another thread's call */
    int failed = 0;
    changed->n = stack_text->n = 0;
    if (nviews == 1 && !r->nextra && views[0].info == r->info && (r->info->optimized || r->info->is_module)) {
        failed = fast_changes(t, r, &views[0], changed);
        if (changed->n) buf_byte(changed, '}');
        return failed ? failed : stack ? stack_changes(t, r, stack, stack_text) : 0;
    }
    Nows mine = l;
    l = (Nows){0};
    t->refs.n = 0;
    collect_locals(t, views, nviews, &mine);
    size_t bound = 0;
    for (size_t i = 0; i < mine.n && !failed; i++) {
        Val v = {0}, *cell = cell_of(r, &mine.p[i]);
        failed = value_of(t, mine.p[i].value, &v);
        if (failed || same(v, *cell)) continue;
        size_t nrefs = t->refs.n;
        write_name(changed, mine.p[i].name);
        failed = write_value(t, changed, mine.p[i].value);
        t->refs.n = nrefs;
        cell = cell_of(r, &mine.p[i]);
        *cell = v;
    }
    for (int i = 0; i < r->info->nnames; i++) bound += r->vals[i].a != V_UNBOUND;
    for (int i = 0; i < r->nextra; i++) bound += r->extra[i].v.a != V_UNBOUND;
    if (bound != mine.n && !failed) {
        Nows lost = {0};
        for (int k = 0; k < r->info->nnames; k++) {
            int slot = r->info->order[k];
            if (r->vals[slot].a != V_UNBOUND && !among(&mine, r->info->names[slot])) {
                nows_add(&lost, r->info->names[slot], NULL, slot);
                r->vals[slot] = (Val){V_UNBOUND, 0};
            }
        }
        for (int i = 0; i < r->nextra; i++)
            if (r->extra[i].v.a != V_UNBOUND && !among(&mine, r->extra[i].name)) {
                nows_add(&lost, r->extra[i].name, NULL, -1);
                r->extra[i].v = (Val){V_UNBOUND, 0};
            }
        size_t params = 0;
        while (params < lost.n && lost.p[params].slot >= 0 && lost.p[params].slot < r->info->nparams) params++;
        if (lost.n > params) qsort(lost.p + params, lost.n - params, sizeof(Now), by_name);
        for (size_t i = 0; i < lost.n; i++) {
            write_name(changed, lost.p[i].name);
            buf_lit(changed, "{\"unbound\":true}");
        }
        free(lost.p);
    }
    if (changed->n) buf_byte(changed, '}');
    if (!failed) set_refs(t, &r->refs, r->counted, t->refs.p, t->refs.n);
    free(l.p);
    l = mine;
    return failed ? failed : stack ? stack_changes(t, r, stack, stack_text) : 0;
}

/* ---- globals ------------------------------------------------------------------------------------ */

static PyObject *HIDDEN_GLOBALS;

static int
global_changes(Thread *t, Rec *r, PyFrameObject *f)
{
    PyObject *dict = f->f_frame->f_globals;
    Buf *b = &t->global_text;
    b->n = 0;
    Globals *g = NULL;
    for (int i = 0; i < t->nglobals && !g; i++)
        if (t->globals[i].file == r->info->file || PyUnicode_Compare(t->globals[i].file, r->info->file) == 0) g = &t->globals[i];
    if (!g) {
        t->globals = must(realloc(t->globals, (size_t)(t->nglobals + 1) * sizeof(Globals)));
        g = &t->globals[t->nglobals++];
        memset(g, 0, sizeof *g);
        g->file = Py_NewRef(r->info->file);
    }
    if (!PyDict_Check(dict)) return 0;
    uint64_t version = dict_version(dict);
    if (g->dict == dict && g->version == version && !t->reread) {
        if (g->seen >= t->quiet) return 0;
        g->seen = t->stamp;
        size_t replaced = t->nreplaced;
        for (size_t i = 0; i < g->revisit.n; i++) keep(t, g->revisit.p[i]);
        for (size_t i = 0; i < g->revisit.n; i++) {
            Val v;
            if (value_of(t, g->revisit.p[i], &v) < 0) return -1;
        }
        if (t->nreplaced == replaced) return 0;  /* else a __class__ was assigned */
    }
    Nows l = {0};
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &key, &value)) {
        if (!PyUnicode_CheckExact(key) || Py_IS_TYPE(value, &PyModule_Type) || PySet_Contains(HIDDEN_GLOBALS, key) == 1) continue;
        hold(t, value);
        hold(t, key);
        nows_add(&l, key, value, -1);
    }
    Extra *old = g->names;
    int nold = g->n, failed = 0;
    Extra *now = must(malloc((l.n + 1) * sizeof(Extra)));
    t->refs.n = 0;
    g->revisit.n = 0;
    t->revisit = &g->revisit;
    for (size_t i = 0; i < l.n && !failed; i++) {
        now[i].name = l.p[i].name;
        failed = value_of(t, l.p[i].value, &now[i].v);
    }
    t->revisit = NULL;
    size_t nrefs = t->refs.n;
    for (size_t i = 0; i < l.n && !failed; i++) {
        Val *known = NULL;
        if ((int)i < nold && old[i].name == now[i].name) known = &old[i].v;
        for (int k = 0; k < nold && !known; k++) if (same_name(old[k].name, now[i].name)) known = &old[k].v;
        if (known && same(*known, now[i].v)) continue;
        write_name(b, now[i].name);
        failed = write_value(t, b, l.p[i].value);
    }
    t->refs.n = nrefs;
    for (int k = 0; k < nold && !failed; k++) {
        bool there = k < (int)l.n && now[k].name == old[k].name;
        for (size_t i = 0; i < l.n && !there; i++) there = same_name(now[i].name, old[k].name);
        if (there) continue;
        write_name(b, old[k].name);
        buf_lit(b, "{\"unbound\":true}");
    }
    if (b->n) buf_byte(b, '}');
    if (failed) { free(now); free(l.p); return -1; }
    for (size_t i = 0; i < l.n; i++) Py_INCREF(now[i].name);
    for (int k = 0; k < nold; k++) Py_DECREF(old[k].name);
    free(old);
    g->names = now;
    g->n = (int)l.n;
    g->dict = dict;
    g->version = version;
    g->seen = t->stamp;
    free(l.p);
    set_refs(t, &g->refs, 1, t->refs.p, t->refs.n);
    return 0;
}

/* ---- blocks (recording/block.py) ---------------------------------------------------------------- */

static const char MAGIC[] = "\xdcK\x01";
enum { CONTEXT = 0x10, COLUMNS = 0x20, GAP = 0x40 };

static int
hand_over(Core *core)
{
    if (core->block.n) {
        PyObject *block = PyBytes_FromStringAndSize(core->block.p, (Py_ssize_t)core->block.n);
        if (!block) return -1;
        core->block.n = 0;
        core->block_number++;
        if (core->mirror) { core->mirror->size = 0; core->mirror->block = core->block_number; }
        core->block_codes = 0;
        core->block_info = NULL;
        int failed = PyList_Append(core->pending, block);
        Py_DECREF(block);
        if (failed) return -1;
    }
    if (core->emitting) return 0;  /* another thread is at it, and takes this one too */
    core->emitting = true;
    int failed = 0;
    while (!failed && PyList_GET_SIZE(core->pending)) {
        PyObject *block = Py_NewRef(PyList_GET_ITEM(core->pending, 0));
        PyObject *done = NULL;
        if (PyList_SetSlice(core->pending, 0, 1, NULL) == 0)
            done = QUIETLY(PyObject_CallMethodOneArg(core->tracer, S_emit, block));
        failed = done == NULL;
        Py_XDECREF(done);
        Py_DECREF(block);
    }
    core->emitting = false;
    return failed ? -1 : 0;
}

/* What was left out since the last event, as JSON; nothing if nothing was. */
static void
write_left_out(Thread *t, Buf *b)
{
    static const char *const names[] = {"{\"deep\":", "{\"repeated\":", "{\"called\":"};
    for (int i = 0; i < LEFT_OUT; i++) {
        if (!t->left_out[i]) continue;
        if (b->n) { buf_byte(b, ','); buf_put(b, names[i] + 1, strlen(names[i]) - 1); }
        else buf_put(b, names[i], strlen(names[i]));
        buf_int(b, t->left_out[i]);
        t->left_out[i] = 0;
    }
    if (b->n) buf_byte(b, '}');
}

static char *
put_varint(char *p, uint64_t v)
{
    while (v >= 0x80) { *p++ = (char)(v | 0x80); v >>= 7; }
    *p++ = (char)v;
    return p;
}

static void
put_text(Buf *b, const char *p, size_t n)
{
    buf_varint(b, n);
    buf_put(b, p, n);
}

static int
add_to_block(Thread *t, int kind, Rec *r, int line, int offset, Buf **texts, Buf *output)
{
    Core *core = t->core;
    if (!core->on) return 0;  /* stopped by another thread in the middle of this event */
    Buf *b = &core->block;
    size_t had = b->n;
    if (!b->n) buf_put(b, MAGIC, 3);
    Info *info = r->info;
    bool context = core->block_info != info || core->block_frame != r->number || core->block_thread != t->number
        || core->block_index + 1 != t->index;
    int mask = t->instruction ? 1 << 7 : 0;
    for (int i = 0; i < 6; i++) mask |= (texts[i]->n != 0) << i;
    mask |= (output->n != 0) << 6;
    bool gap = t->left_out[DEEP] | t->left_out[REPEATED] | t->left_out[CALLED];
    enum { SIX_NUMBERS = 64 };
    buf_room(b, SIX_NUMBERS);
    char *p = b->p + b->n;
    *p++ = (char)(kind | (context ? CONTEXT : 0) | (mask ? COLUMNS : 0) | (gap ? GAP : 0));
    if (context) {
        p = put_varint(p, (uint64_t)t->number);
        p = put_varint(p, (uint64_t)t->index);
        p = put_varint(p, (uint64_t)r->number);
        bool named = info->block == core->block_number + 1;
        if (!named) {
            info->block = core->block_number + 1;
            info->block_code = core->block_codes++;
        }
        p = put_varint(p, (uint64_t)info->block_code);
        if (!named) {
            b->n = (size_t)(p - b->p);
            PyObject *names[] = {info->function, info->file};
            for (int i = 0; i < 2; i++) {
                Buf text = {0};
                buf_text(&text, names[i]);
                put_text(b, text.p, text.n);
                buf_free(&text);
            }
            buf_room(b, SIX_NUMBERS);
            p = b->p + b->n;
        }
        core->block_thread = t->number;
        core->block_frame = r->number;
        core->block_info = info;
    }
    core->block_index = t->index;
    p = put_varint(p, (uint64_t)line);
    p = put_varint(p, (uint64_t)(offset + 1));
    if (mask) *p++ = (char)mask;
    b->n = (size_t)(p - b->p);
    for (int rest = mask & 0x7F; rest; rest &= rest - 1) {
        int i = __builtin_ctz((unsigned)rest);
        Buf *text = i == 6 ? output : texts[i];
        put_text(b, text->p, text->n);
    }
    if (t->instruction) {
        Py_ssize_t n;
        const char *text = PyUnicode_AsUTF8AndSize(t->instruction, &n);
        if (!text) { PyErr_Clear(); text = "<instruction>"; n = 13; }
        put_text(b, text, (size_t)n);
    }
    if (gap) {
        Buf left_out = {0};
        write_left_out(t, &left_out);
        put_text(b, left_out.p, left_out.n);
        buf_free(&left_out);
    }
    if (core->mirror && b->n <= core->mirror_room) {
        memcpy(core->mirror->data + had, b->p + had, b->n - had);
        __atomic_store_n(&core->mirror->size, b->n, __ATOMIC_RELEASE);
    }
    return b->n >= core->block_bytes ? hand_over(core) : 0;
}

/* ---- the event itself --------------------------------------------------------------------------- */

enum { K_CALL, K_LINE, K_RETURN, K_YIELD, K_RESUME, K_RAISE, K_UNWIND, K_INSTRUCTION };

static inline Entry *
known_entry(Thread *t, void *frame)
{
    if (frame != t->cached_frame) { t->cached_frame = frame; t->cached = map_get(&t->frames, (uint64_t)frame); }
    return t->cached;
}

static inline Entry *
entry_of(Thread *t, void *frame)
{
    Entry *e = known_entry(t, frame);  /* a frame may end unseen, and another begin at its address */
    return e && e->code == frame_code(((PyFrameObject *)frame)->f_frame) ? e : NULL;
}

/* Of the memory of such records one is kept, for the next call. */
static Rec *
rec_new(Info *info)
{
    size_t size = sizeof(Rec) + ((size_t)info->nnames + 1) * sizeof(Val);
    Rec *r = info->spare;
    Val *stack = r ? r->stack : NULL;
    int capstack = r ? r->capstack : 0;
    info->spare = NULL;
    if (!r) r = must(malloc(size));
    memset(r, 0, size);
    r->stack = stack;
    r->capstack = capstack;
    r->vals = (Val *)(r + 1);
    return r;
}

static void
rec_drop(Thread *t, Rec *r)
{
    if (--r->users) return;
    recount(t, r, -r->counted);
    set_refs(t, &r->refs, 0, NULL, 0);
    set_refs(t, &r->srefs, 0, NULL, 0);
    for (int i = 0; i < r->nextra; i++) Py_DECREF(r->extra[i].name);
    free(r->extra);
    free(r->refs.p);
    free(r->srefs.p);
    map_free(&r->counts);
    if (r->info->spare) { free(r->stack); free(r); }
    else r->info->spare = r;
}

static void
entry_free(Thread *t, Entry *e)
{
    if (e->kept) recount(t, e->rec, -1);
    Rec *r = e->rec;
    if (e != &r->own) free(e);
    rec_drop(t, r);
}

static void
frames_del(Thread *t, void *frame)
{
    Entry *e = known_entry(t, frame);
    if (!e) return;
    map_del(&t->frames, (uint64_t)frame);
    t->cached_frame = NULL;
    entry_free(t, e);
}

static Entry *
frames_put(Thread *t, void *frame, Rec *r, bool comprehension)
{
    frames_del(t, frame);
    Entry *e = comprehension ? must(calloc(1, sizeof *e)) : &r->own;
    e->rec = r;
    e->code = frame_code(((PyFrameObject *)frame)->f_frame);
    e->comprehension = comprehension;
    e->last = -1;
    r->users++;
    map_put(&t->frames, (uint64_t)frame, e);
    t->cached_frame = NULL;
    if (!comprehension && r->info->keeps_roots) { e->kept = true; recount(t, r, 1); }
    return e;
}

static PyObject *
frame_number_of(Thread *t, void *frame)
{
    Entry *e = entry_of(t, frame);
    return e && !e->comprehension ? PyLong_FromLong(e->rec->number) : NULL;
}

/* The frame with the enclosing one, if it is a comprehension's: outermost first (_views). */
static int
views_of(Thread *t, PyFrameObject *f, View *views)
{
    if (view_of(t, f, views) < 0) return -1;
    Entry *e = entry_of(t, f);
    if (!e || !e->comprehension) return 1;
    View found[MAX_VIEWS];
    int n = 1;
    found[0] = views[0];
    while (n < MAX_VIEWS && e && e->comprehension) {
        f = PyFrame_GetBack(f);
        if (!f) break;
        pys_add(&t->held, (PyObject *)f);
        if (view_of(t, f, &found[n++]) < 0) return -1;
        e = entry_of(t, f);
    }
    for (int i = 0; i < n; i++) views[i] = found[n - 1 - i];
    return n;
}

static bool is_iterator_type(Thread *t, PyObject *o)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k == &PyGen_Type || k == &PyCoro_Type || k == &PyAsyncGen_Type) return true;
    TypeInfo *info = type_info(t, k);
    if (!info) { PyErr_Clear(); return false; }
    return info->mode == M_CONTENT && info->head != Py_None && PyUnicode_CompareWithASCIIString(info->head, "iterator") == 0;
}

/* Whether a generator is the one that runs in a frame (runs_in). */
static bool
runs_in(PyObject *o, PyFrameObject *f)
{
    PyTypeObject *k = Py_TYPE(o);
    if (k != &PyGen_Type && k != &PyCoro_Type && k != &PyAsyncGen_Type) return false;
    return (IFrame *)((PyGenObject *)o)->gi_iframe == f->f_frame;
}

static void
write_text_object(Buf *b, PyObject *text)
{
    buf_json(b, text, PyUnicode_GET_LENGTH(text));
}

/* Where the calling frame stands (_caller). */
static int
caller_of(Thread *t, Rec *r, PyFrameObject *frame)
{
    Buf *b = &t->caller;
    b->n = 0;
    PyFrameObject *above = PyFrame_GetBack(frame);
    PyObject *via = NULL;
    Entry *e = NULL;
    while (above && !(e = entry_of(t, above))) {
        pys_add(&t->held, (PyObject *)above);
        via = (PyObject *)frame_code(above->f_frame);
        above = PyFrame_GetBack(above);
    }
    if (!above) return 0;
    pys_add(&t->held, (PyObject *)above);
    Rec *parent = t->parent = e->rec;
    if (parent == r) return 0;
    View views[MAX_VIEWS];
    int n = views_of(t, above, views);
    if (n < 0) return -1;
    View *top = &views[n - 1];
    bool freeing = r->closing || r->info->is_del;
    PyObject *via_text = NULL;
    int first = 0, size = entered_from_python(frame->f_frame) ? 0 : operand_slots(top, &first);
    PyObject **slots = top->i->localsplus + top->info->nnames + first;
    Pys operands = {0};
    bool whole = !freeing;
    for (int i = 0; i < size && whole; i++) if (slots[i] && !type_at(slots[i])) whole = false;
    for (int i = 0; i < size && whole; i++) {
        PyObject *o = slots[i];
        if (!o) continue;
        PyTypeObject *k = Py_TYPE(o);
        bool looked_for = map_get(&LOOKED_FOR, (uint64_t)k);
        /* a generator that runs and has one reference may be closing because it is being freed */
        if (looked_for && Py_REFCNT(o) == 1 && (k == &PyGen_Type || k == &PyCoro_Type || k == &PyAsyncGen_Type)
            && ((PyGenObject *)o)->gi_frame_state == FRAME_EXECUTING) looked_for = false;
        if (!looked_for) o = Py_None;
        hold(t, o);
        pys_add(&operands, o);
    }
    if (via) via_text = QUIETLY(PyObject_CallMethod(t->fallback, "qualified", "O", ((PyCodeObject *)via)->co_qualname));
    else if (!size || (operands.n && operands.p[0] == Py_None)) via_text = Py_NewRef(Py_None);  /* it is no function in C */
    else {
        PyObject *callable = NULL;
        for (int i = 0; i < size && !callable; i++) callable = slots[i];
        via_text = QUIETLY(PyObject_CallMethod(t->fallback, "via", "OK", operands.n ? operands.p[0] : Py_None,
                                               (unsigned long long)(operands.n ? 0 : (uint64_t)callable)));
    }
    if (!via_text) { free(operands.p); return -1; }
    pys_add(&t->held, via_text);
    Pys stack = {0};
    for (int i = 0; i < n; i++) {
        uint64_t raised = (uint64_t)map_get(&t->raised, (uint64_t)views[i].f);
        view_pending(t, &views[i], raised && (int)(raised - 2) == views[i].offset, &stack);
    }
    if (via_text != Py_None)
        for (size_t i = 0; i < operands.n; i++)
            if (is_iterator_type(t, operands.p[i]) && !runs_in(operands.p[i], frame)) pys_add(&stack, operands.p[i]);
    free(operands.p);
    Buf changed = {0}, stack_text = {0};
    int failed = frame_changes(t, parent, views, n, &stack, &changed, &stack_text);
    free(stack.p);
    if (!failed) {
        buf_lit(b, "{\"frame\":");
        buf_int(b, parent->number);
        buf_lit(b, ",\"offset\":");
        buf_int(b, top->offset);
        PyObject *at = PyList_GET_ITEM(top->info->at, top->offset / 2);
        if (at != Py_None) buf_text(b, at);
        if (via_text != Py_None) { buf_lit(b, ",\"via\":"); write_text_object(b, via_text); }
        if (changed.n) { buf_lit(b, ",\"locals\":"); buf_put(b, changed.p, changed.n); }
        if (stack_text.n) { buf_lit(b, ",\"stack\":"); buf_put(b, stack_text.p, stack_text.n); }
        buf_byte(b, '}');
    }
    buf_free(&changed);
    buf_free(&stack_text);
    return failed;
}

static int
by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int
give_up(Thread *t, const char *why)
{
    PyObject *text = PyUnicode_FromString(why);
    if (!text) return -1;
    PyObject *done = QUIETLY(PyObject_CallMethodOneArg(t->core->tracer, S_give_up, text));
    Py_DECREF(text);
    if (!done) return -1;
    release(t);
    Py_DECREF(done);
    return 0;
}

/* Whether other code may run between two lines: of another thread, or of a trace function, profiler or monitor. What picked the
   frame that is followed (sandbox/_calls.py) only counts. */
static bool
observed(const Core *core, PyThreadState *ts)
{
    if (ts->next || ts->prev || (ts->c_profilefunc && ts->c_profileobj != core->picked_by)) return true;
#if PY_VERSION_HEX >= 0x030C0000
    for (int tool = 0; tool < 6; tool++) {
        PyObject *name = ts->interp->monitoring_tool_names[tool];
        if (name && PyUnicode_CompareWithASCIIString(name, OWN_NAME) != 0) return true;
    }
#endif
    return false;
}

#include "account.h"

/* Put what was written of objects into the order in which they were visited. */
static void
in_order(Thread *t)
{
    Buf b = {0};
    size_t done = 0;
    for (size_t i = 0; i < t->nvisited; i++)
        for (size_t k = done; k < t->nsegments; k++)
            if (t->segments[k].number == t->queue[i].obj->number) {
                size_t from = t->segments[k].from, to = t->segments[k].to, at = b.n;
                buf_put(&b, t->objects_text.p + from, to - from);
                t->segments[k] = t->segments[done];
                t->segments[done].number = t->queue[i].obj->number;
                t->segments[done].from = at;
                t->segments[done++].to = b.n;
                break;
            }
    if (b.n && done == t->nsegments && b.n == t->objects_text.n) memcpy(t->objects_text.p, b.p, b.n);
    buf_free(&b);
}

static void
see_again(Thread *t, Obj *obj)
{
    if (obj->visited == t->stamp || obj->dead) return;
    obj->visited = t->stamp;
    t->visited++;
    PyObject *o = obj->address;
    if (Py_TYPE(o) != &PyFunction_Type || !obj->known || obj->c.nf || !function_is_inert(o)) enqueue(t, o, obj);
}

/* From this event on nothing that was seen earlier counts. */
static void
look_again(Thread *t)
{
    t->quiet = t->stamp;
    t->drains = false;
    untouch(t);
}

/* The variables of the module are not looked through where none of them was assigned: unless one is to be looked at. */
static void
find_among_globals(Thread *t, Rec *r)
{
    for (int k = 0; k < t->nglobals; k++) {
        Globals *g = &t->globals[k];
        if (g->file != r->info->file && PyUnicode_Compare(g->file, r->info->file) != 0) continue;
        for (size_t i = 0; i < g->refs.n; i++) if (g->refs.p[i]->touched) g->seen = 0;
    }
}

/* Queue what may have changed and is no variable's value. Whether everything must be looked at instead: where that was not
   found, or the order in which objects are found would not be that of looking at everything. */
static bool
missed(Thread *t)
{
    if (t->doubt) return true;
    Obj *deep = NULL;
    for (size_t i = 0; i < t->touched.n; i++) {
        Obj *obj = t->touched.p[i];
        if (!obj->touched || obj->dead) continue;
        if (map_get(&t->objects, (uint64_t)obj->address) != obj) continue;  /* it was freed */
        if (obj->touched == 1 || deep) return true;
        deep = obj;
    }
    if (!deep) return false;
    if (t->fresh || t->touched.n > 1 || t->core->depth < 3) return true;
    deep->visited = t->stamp;
    deep->touched = 0;
    t->depth = 1;
    enqueue(t, deep->address, deep);
    t->depth = 0;
    return false;
}

/* Queue everything that an event is about, in its order. An event that does not show the frame's stack is not about
   what lay there at the one before: that may be freed by now (a loop's iterator, once a value is returned from the loop). */
static int
see_everything(Thread *t, Rec *r, bool shows_stack)
{
    t->stamp = ++t->core->stamps;
    look_again(t);
    t->nqueue = t->visited = 0;
    Rec *of[] = {r, t->parent};
    for (int k = 0; k < 2; k++) {
        if (!of[k] || (k && of[1] == r)) continue;
        for (size_t i = 0; i < of[k]->refs.n; i++) see_again(t, of[k]->refs.p[i]);
        if (k || shows_stack) for (size_t i = 0; i < of[k]->srefs.n; i++) see_again(t, of[k]->srefs.p[i]);
    }
    for (size_t i = 0; i < t->in_flight.n; i++) see_again(t, t->in_flight.p[i]);
    for (int k = 0; k < t->nglobals; k++) {
        Globals *g = &t->globals[k];
        if (g->file != r->info->file && PyUnicode_Compare(g->file, r->info->file) != 0) continue;
        g->seen = t->stamp;
        for (size_t i = 0; i < g->revisit.n; i++) {
            Val v;
            if (value_of(t, g->revisit.p[i], &v) < 0) return -1;
        }
    }
    return 0;
}

/* Whether an event is left out because the frame has had so many like it (_repeats). */
static bool
repeats(Thread *t, int kind, Rec *r, PyFrameObject *frame, int line)
{
    if (kind == K_CALL || kind == K_RETURN || kind == K_UNWIND) return false;
    if (!r->skipped && kind != K_YIELD) {
        uint64_t place = (uint64_t)(line < 0 ? 0 : line);
        if (kind == K_INSTRUCTION)
            place = ((uint64_t)frame_code(frame->f_frame) >> 4 << 17) + (uint64_t)frame_lasti(frame->f_frame) / 2;
        place = place << 3 | (uint64_t)kind;
        uintptr_t count = (uintptr_t)map_get(&r->counts, place);
        r->repeats = count >= (uintptr_t)t->core->repetitions;
        if (!r->repeats) map_put(&r->counts, place, (void *)(count + 1));
        r->skipped = r->repeats && kind == K_RESUME;
    } else if (kind == K_YIELD) r->repeats = r->skipped;
    if (!r->repeats) return false;
    t->left_out[REPEATED]++;
    r->line = line < 0 ? (r->line ? r->line : r->info->first_line) : line;
    if (kind != K_INSTRUCTION) {
        int lasti = frame_lasti(frame->f_frame);
        r->last_line = r->line;
        r->last_offset = frame_code(frame->f_frame) != r->info->code ? -1 : lasti < 0 ? lasti : r->info->owner[lasti / 2];
    }
    return true;
}

static int
put_event(Thread *t, int kind, Rec *r, int line, int offset, Buf **texts)
{
    r->line = line;
    if (kind != K_INSTRUCTION) {
        r->last_line = line;
        r->last_offset = offset;
    }
    int failed = add_to_block(t, kind, r, line, offset, texts, &t->output);
    t->output.n = 0;
    t->index++;
    return failed;
}

/* How many slots of the value stack `view_stack` looks at, and which of them are values; -1 where that says not all. */
static int
stack_shape(const View *v, const char **tags)
{
    int depth, first = v->info->nnames, top = v->i->stacktop;
    *tags = tags_at(v, &depth);
    if (depth < 0 || v->info->iterates || (top < 0 && op_at(v->info, v->offset) & OP_NO_INTERRUPT)) return -1;
    return top < 0 || top - first == depth ? depth : -1;
}

/* What most lines are: one that follows on another of its frame, and in between at most variables that hold atoms were assigned. Writes
   what changed and says so; false, with nothing done, where the event is to be looked at in full. */
static bool
quiet_line(Thread *t, Rec *r, PyFrameObject *frame, View *v)
{
    if (t->wild || t->beyond || t->drains || t->iterates || t->dirty || t->reread || t->touched.n || t->maybe.n || t->nreplaced || r->seen != t->stamp || r->seen < t->quiet
        || r->nextra || t->objects.used * 2 > (size_t)t->core->objects || view_of(t, frame, v) < 0 || v->info != r->info) return false;
    const Info *info = v->info;
    uint64_t stored = t->at.stored | info->cells;
    const char *tags;
    if (!info->nnames || t->at.depth < 0 || stack_shape(v, &tags) != t->at.depth || memcmp(tags, t->at.tags, (size_t)t->at.depth)
        || !refers_as_before(t, r, v, stored)) return false;
    Globals *g = NULL;
    for (int i = 0; i < t->nglobals && !g; i++) if (t->globals[i].file == info->file) g = &t->globals[i];
    if (!g || g->dict != v->i->f_globals || g->seen < t->quiet || g->version != dict_version(g->dict)) return false;
    Val now[64];
    for (uint64_t rest = stored; rest; rest &= rest - 1) {
        int slot = __builtin_ctzll(rest);
        PyObject *o = v->i->localsplus[slot];
        now[slot] = (Val){V_UNBOUND, 0};
        if (o ? !atom_of(t, o, &now[slot]) : r->vals[slot].a != V_UNBOUND) return false;
    }
    r->seen = t->stamp = ++t->core->stamps;
    t->stack.n = t->global_text.n = t->objects_text.n = t->caller.n = t->value.n = 0;
    Buf *changed = &t->locals;
    changed->n = 0;
    for (int k = 0; stored && k < info->nnames; k++) {
        int slot = info->order[k];
        if (!(stored >> slot & 1) || info->hidden[slot] || same(now[slot], r->vals[slot])) continue;
        r->vals[slot] = now[slot];
        write_name(changed, info->names[slot]);
        write_value(t, changed, v->i->localsplus[slot]);
    }
    if (changed->n) buf_byte(changed, '}');
    return true;
}

/* Write one event of `r`. `frame` is its frame, or a comprehension's inside it (_emit). */
static int
emit(Thread *t, int kind, Rec *r, PyFrameObject *frame, int line, PyObject *value)
{
    Core *core = t->core;
    if (core->repetitions && repeats(t, kind, r, frame, line)) return 0;
    if (t->index >= core->events) return give_up(t, "events");
    if (has_subinterpreters()) return give_up(t, "subinterpreters");
    if (line < 0) line = r->line ? r->line : r->info->first_line;  /* an instruction without a line */
    Buf *texts[] = {&t->locals, &t->stack, &t->global_text, &t->objects_text, &t->caller, &t->value};
    View quiet;
    if (kind == K_LINE && t->at.follows && !core->instructions && !core->repetitions && quiet_line(t, r, frame, &quiet)) {
        t->at.stored = 0;
        t->at.shown = true;
        return put_event(t, kind, r, line, quiet.offset, texts);
    }
    t->ngone = 0;
    if (t->dirty) { t->dirty = false; forget(t); }
    t->stamp = ++core->stamps;
    t->nqueue = t->nsegments = 0;
    t->visited = 0;
    t->depth = 0;
    t->objects_text.n = t->caller.n = t->value.n = 0;
    View views[MAX_VIEWS];
    int n = views_of(t, frame, views);
    if (n < 0) return -1;
    View *top = &views[n - 1];
    bool shows_stack = kind == K_CALL || kind == K_LINE || kind == K_RESUME || kind == K_YIELD;
    Pys *stack = &t->values;
    stack->n = 0;
    if (kind == K_INSTRUCTION) {
        shows_stack = true;
        for (int i = 0; i < n - 1; i++) view_pending(t, &views[i], false, stack);
        view_whole_stack(t, top, stack);
    } else if (shows_stack) {
        for (int i = 0; i < n - 1; i++) view_pending(t, &views[i], false, stack);
        size_t from = stack->n;
        view_stack(t, top, stack);
        if (kind == K_YIELD && stack->n > from && stack->p[stack->n - 1] == value) stack->n--;
        if (kind == K_RESUME && stack->n) value = stack->p[--stack->n];
    }
    t->doubt = false;
    t->moved = t->fresh = 0;
    t->parent = NULL;
    if (t->wild || t->beyond || !t->alone || t->objects.used * 2 > (size_t)core->objects) look_again(t);
    t->wild = t->beyond = false;
    if (frame_changes(t, r, views, n, shows_stack ? stack : NULL, &t->locals, &t->stack) < 0) return -1;
    if ((kind == K_CALL || kind == K_RESUME) && caller_of(t, r, frame) < 0) return -1;
    t->refs.n = 0;
    if (value) {
        t->depth = 0;
        if (write_value(t, &t->value, value) < 0) return -1;
    }
    set_refs(t, &t->in_flight, 1, t->refs.p, t->refs.n);
    if (t->touched.n) find_among_globals(t, r);
    if (global_changes(t, r, frame) < 0) return -1;
    int again = t->quiet == t->stamp ? 0 : missed(t);
    if (!again) {
        if (finish(t) < 0) return -1;
        again = t->quiet != t->stamp && t->drains && t->moved != t->iterators;
    }
    if (again) {
        if (see_everything(t, r, shows_stack) < 0 || finish(t) < 0) return -1;
        if (t->nsegments > 1) in_order(t);
    }
    t->drains = t->iterates = t->reread = false;
    untouch(t);
    if (n == 1 && t->at.frame == top->i) {
        t->at.stored = 0;
        t->at.shown = kind == K_LINE;
        t->at.depth = stack_shape(top, &t->at.tags);
    }
    t->depth = 0;
    if (t->objects_text.n || t->locals.n || t->stack.n || t->global_text.n) { t->dirty = false; forget(t); }
    if (t->ngone) {
        qsort(t->gone, t->ngone, sizeof(uint64_t), by_number);
        write_gone(t);
    }
    if (t->objects_text.n) { t->objects_text.p[0] = '{'; buf_byte(&t->objects_text, '}'); }
    int failed = put_event(t, kind, r, line, top->offset, texts);
    if (kind != K_INSTRUCTION && top->info != r->info) r->last_offset = -1;
    release(t);
    return failed;
}

/* ---- from the interpreter's events to ours (reference.py, same names) ---------------------------- */

static int
flush(Thread *t, PyFrameObject *frame, Rec *r)
{
    int kind = r->pending;
    r->pending = -1;
    if (kind < 0) return 0;
    if (r->number < 0) r->number = t->next_frame++;
    return emit(t, kind, r, frame, kind == K_CALL ? r->info->first_line : PyFrame_GetLineNumber(frame), NULL);
}

static void
leave(Thread *t, PyFrameObject *frame, Rec *r, bool keep)
{
    if (t->nactive && t->active[t->nactive - 1] == r) {
        t->nactive--;
        recount(t, r, -1);
        r->users--;
    }
    t->dirty = true;
    if (!keep) frames_del(t, frame);
}

static int
trace_opcodes(PyFrameObject *frame, PyObject *tracer)
{
    if (!frame->f_trace) frame->f_trace = Py_NewRef(tracer);  /* 3.13 forgets the wish on a frame without one */
    return PyObject_SetAttrString((PyObject *)frame, "f_trace_opcodes", Py_True);
}

/* Whether the frame that is calling repeats what is recorded no more. */
static inline bool in_gap(Thread *t) { return t->nactive && t->active[t->nactive - 1]->repeats; }

/* Whether a frame that begins or goes on is beyond the depth that was asked for, or called in a gap (_leaves_out). */
static bool
leaves_out(Thread *t, PyFrameObject *frame, const View *v)
{
    bool deep = t->core->call_depth && t->nactive >= t->core->call_depth;
    if (!deep && !in_gap(t)) return false;
    Entry *e;
    if (v->info->is_comprehension) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        e = back ? entry_of(t, back) : NULL;
        Py_XDECREF(back);
        if (e) return false;
    } else {
        e = v->offset <= v->info->first_resume ? NULL : entry_of(t, frame);
        if (e && !e->comprehension) return false;
        t->left_out[deep ? DEEP : CALLED]++;
    }
    frames_del(t, frame);
    return true;
}

/* Take that back from this frame and those that it returns to: under the next trace function, which may be the program's own,
   the interpreter would call the None that stands there. Nobody else can put it there. A suspended generator keeps it. */
static void
untrace_opcodes(PyFrameObject *frame)
{
    Py_XINCREF(frame);
    while (frame) {
        if (frame->f_trace == Py_None) {
            Py_CLEAR(frame->f_trace);
            frame->f_trace_opcodes = 0;
        }
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_DECREF(frame);
        frame = back;
    }
}

static int
on_call(Thread *t, PyFrameObject *frame)
{
    View v;
    if (view_of(t, frame, &v) < 0) return -1;
    Info *info = v.info;
    if ((info->has_comprehensions || t->core->instructions) && trace_opcodes(frame, Py_None) < 0) return -1;
    if (leaves_out(t, frame, &v)) return 0;  /* after that: on 3.13 the events are the code's, of all its frames */
    if (info->is_comprehension) {
        PyFrameObject *back = PyFrame_GetBack(frame);
        Entry *e = back ? entry_of(t, back) : NULL;
        Py_XDECREF(back);
        if (e) { frames_put(t, frame, e->rec, true); return 0; }
    }
    bool begins = v.offset <= info->first_resume;
    Entry *e = entry_of(t, frame);
    Rec *r;
    if (begins || !e || e->comprehension || e->rec->info != info) {
        r = rec_new(info);
        r->number = -1;
        r->info = info;
        r->pending = -1;
        r->last_offset = -1;
        frames_put(t, frame, r, false);
    } else r = e->rec;
    if (t->nactive == t->capactive)
        t->active = must(realloc(t->active, (size_t)(t->capactive = t->capactive * 2 + 16) * sizeof(Rec *)));
    r->skipped = r->repeats = in_gap(t);
    t->active[t->nactive++] = r;
    r->users++;
    recount(t, r, 1);
    r->propagating = r->closing = false;
    r->pending = begins ? K_CALL : K_RESUME;
    return op_at(info, v.offset) & OP_GOES_ON ? flush(t, frame, r) : 0;
}

static int
enters_comprehension(Thread *t, Info *info, int offset)
{
    if (offset < 0) return 0;
    signed char *known = &info->enters[offset / 2];
    if (*known < 0) {
        PyObject *found = QUIETLY(PyObject_CallMethod(info->facts, "enters_comprehension", "i", offset));
        if (!found) return -1;
        *known = (signed char)PyObject_IsTrue(found);
        Py_DECREF(found);
    }
    return *known;
}

static int
on_line(Thread *t, PyFrameObject *frame, Rec *r)
{
    View v;
    if (view_of(t, frame, &v) < 0) return -1;
    int line = PyFrame_GetLineNumber(frame), op = op_at(v.info, v.offset);
    if (v.offset >= 0 && v.info->comprehension[v.offset / 2]) { r->after_comprehension = true; return 0; }
    if (op & OP_CLEANUP_THROW) return 0;
    int enters = enters_comprehension(t, v.info, v.offset);
    if (enters < 0) return -1;
    if (enters) { r->last_line = line; r->after_comprehension = true; return 0; }
    if (r->after_comprehension) {
        r->after_comprehension = false;
        bool jumped = op & OP_JUMPS_BACK || v.offset < r->last_offset;
        if (line == r->last_line && !jumped) return 0;
    }
    if (flush(t, frame, r) < 0) return -1;
    r->propagating = false;
    return emit(t, K_LINE, r, frame, line, NULL);
}

static int
on_opcode(Thread *t, PyFrameObject *frame, Rec *r)
{
    int offset = frame_lasti(frame->f_frame);
    Info *info = r->info;
    if (offset < 0 || !info->comprehension[offset / 2]) { r->last_offset = offset; return 0; }
    r->after_comprehension = true;
    int failed = 0;
    if (offset < r->last_offset && op_at(info, offset) & OP_ASKS_NEXT) {
        r->propagating = false;
        failed = emit(t, K_LINE, r, frame, info->comprehension[offset / 2], NULL);
    }
    r->last_offset = offset;
    return failed;
}

/* An instruction is about to run in the frame of `r`, or in a comprehension's inside it. */
static int
on_instruction(Thread *t, PyFrameObject *frame, Rec *r)
{
    if (r->pending >= 0) return 0;
    Info *info = info_of(t, frame_code(frame->f_frame));
    if (!info) return -1;
    int offset = frame_lasti(frame->f_frame);
    if (offset < 0 || !info->in_scope) return 0;
    PyObject **text = &info->texts[offset / 2];
    if (!*text) {
        PyObject *found = QUIETLY(PyObject_CallMethod(info->facts, "instruction", "i", offset));
        if (!found) return -1;
        if (*text) Py_DECREF(found);  /* another thread has asked meanwhile */
        else *text = found;
    }
    if (*text == Py_None) return 0;
    int line = info->lines[offset / 2] ? info->lines[offset / 2] : r->line;
    t->instruction = *text;
    int failed = emit(t, K_INSTRUCTION, r, frame, line, NULL);
    t->instruction = NULL;
    return failed;
}

static int
in_comprehension(Thread *t, PyFrameObject *frame, int what, PyObject *arg, Entry *e)
{
    Rec *enclosing = e->rec;
    if (what == PyTrace_OPCODE) {
        int offset = frame_lasti(frame->f_frame), last = e->last;
        Info *info = info_of(t, frame_code(frame->f_frame));
        if (!info) return -1;
        if (offset < last && op_at(info, offset) & OP_ASKS_NEXT
            && emit(t, K_LINE, enclosing, frame, info->code->co_firstlineno, NULL) < 0) return -1;
        e = entry_of(t, frame);
        if (e) e->last = offset;
        if (t->core->instructions && e) return on_instruction(t, frame, enclosing);
    } else if (what == PyTrace_EXCEPTION) {
        if (enclosing->unfolding) { enclosing->unfolding = false; return 0; }
        if (emit(t, K_RAISE, enclosing, frame, PyFrame_GetLineNumber(frame), PyTuple_GET_ITEM(arg, 1)) < 0) return -1;
        enclosing->propagating = true;
    } else if (what == PyTrace_RETURN) {
        enclosing->after_comprehension = true;
        enclosing->unfolding = enclosing->propagating;
        frames_del(t, frame);
    }
    return 0;
}

static bool
ends_loop(Thread *t, PyFrameObject *frame, PyObject *arg)
{
    PyObject *type = PyTuple_GET_ITEM(arg, 0);
    if (!PyType_Check(type) || !(PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)PyExc_StopIteration)
                                 || PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)PyExc_StopAsyncIteration)))
        return false;
    View v;
    if (view_of(t, frame, &v) < 0) { PyErr_Clear(); return false; }
    return op_at(v.info, v.offset) & OP_LOOP_ENDS;
}

static bool
closes_unseen(Thread *t, PyFrameObject *frame, Rec *r)
{
    View v;
    if (view_of(t, frame, &v) < 0) { PyErr_Clear(); return false; }
    if (r->info->is_lambda && v.offset > r->info->first_resume) return false;
    for (int i = 0; i < r->info->nguarded; i++)
        if (r->info->guarded[2 * i] <= v.offset && v.offset < r->info->guarded[2 * i + 1] + 2) return false;
    return true;
}

static int
on_exception(Thread *t, PyFrameObject *frame, Rec *r, PyObject *arg)
{
    if (r->unfolding) { r->unfolding = false; return 0; }
    bool exits = r->pending >= 0 && PyTuple_GET_ITEM(arg, 0) == PyExc_GeneratorExit;
    if (exits && closes_unseen(t, frame, r)) return 0;
    r->closing = exits;
    if (flush(t, frame, r) < 0) return -1;
    if (emit(t, K_RAISE, r, frame, PyFrame_GetLineNumber(frame), PyTuple_GET_ITEM(arg, 1)) < 0) return -1;
    r->propagating = true;
    return 0;
}

static int
on_return(Thread *t, PyFrameObject *frame, Rec *r, PyObject *arg)
{
    if (r->pending >= 0) {  /* closed unseen */
        r->pending = -1;
        leave(t, frame, r, false);
        return 0;
    }
    View v;
    if (view_of(t, frame, &v) < 0) return -1;
    int op = op_at(v.info, v.offset), kind;
    if (op & OP_RETURNS) kind = K_RETURN;
    else if (op & OP_YIELD_POINT && !r->propagating) kind = K_YIELD;
    else kind = K_UNWIND;
    PyObject *value = NULL;
    if (kind != K_UNWIND) {
        value = arg ? arg : Py_None;
        if (kind == K_YIELD && r->info->code->co_flags & CO_ASYNC_GENERATOR
            && strcmp(Py_TYPE(value)->tp_name, "async_generator_wrapped_value") == 0)
            value = *(PyObject **)((char *)value + sizeof(PyObject));
    }
    int failed = emit(t, kind, r, frame, PyFrame_GetLineNumber(frame), value);
    leave(t, frame, r, kind == K_YIELD);
    return failed;
}

static int
on_event(Thread *t, PyFrameObject *frame, int what, PyObject *arg)
{
    Entry *e = entry_of(t, frame);
    if (!e) return 0;
    if (what == PyTrace_EXCEPTION) {
        if (ends_loop(t, frame, arg)) return 0;
        View v;
        if (view_of(t, frame, &v) < 0) return -1;
        map_put(&t->raised, (uint64_t)frame, (void *)(uintptr_t)(v.offset + 2));
    } else if (what != PyTrace_OPCODE && t->raised.used) map_del(&t->raised, (uint64_t)frame);
    if (e->comprehension) return in_comprehension(t, frame, what, arg, e);
    Rec *r = e->rec;
    r->users++;
    int failed = 0;
    if (what == PyTrace_LINE) failed = on_line(t, frame, r);
    else if (what == PyTrace_OPCODE) {
        if (r->info->has_comprehensions) failed = on_opcode(t, frame, r);
        if (!failed && t->core->instructions) failed = on_instruction(t, frame, r);
    }
    else if (what == PyTrace_EXCEPTION) failed = on_exception(t, frame, r, arg);
    else if (what == PyTrace_RETURN) failed = on_return(t, frame, r, arg);
    rec_drop(t, r);
    return failed;
}

#if HAS_LOCAL_EVENTS
static int
call_with_ints(PyObject *f, PyObject *code, long events)
{
    PyObject *done = code ? PyObject_CallFunction(f, "iOl", OWN_TOOL, code, events) : PyObject_CallFunction(f, "il", OWN_TOOL, events);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

enum { BEGINS = 1 << PY_MONITORING_EVENT_PY_START | 1 << PY_MONITORING_EVENT_PY_RESUME, A_LINE = 1 << PY_MONITORING_EVENT_LINE };

/* Have the events of sys.settrace for code in the scope alone, or for all code again; the change of our own tool's events
   makes the interpreter look at them. */
static int
narrow(Core *core, bool wide)
{
    if (!core->set_events) return 0;
    PyInterpreterState *interp = PyInterpreterState_Get();
    if (wide) settrace_events_on(interp, core->events_were);
    else settrace_events_off(interp, core->events_were);
    core->wide = wide;
    return call_with_ints(core->set_events, NULL, 0) < 0 || call_with_ints(core->set_events, NULL, wide ? 0 : BEGINS) < 0 ? -1 : 0;
}

/* Turn the events of sys.settrace on or off for one code object. */
static int
trace_locally(Core *core, Info *info, bool on)
{
    PyObject *code = (PyObject *)info->code;
    if (call_with_ints(core->set_local_events, code, A_LINE) < 0) return -1;
    settrace_local(info->code, on ? core->events_were : NULL, info->has_comprehensions || core->instructions);
    info->local = on;
    return call_with_ints(core->set_local_events, code, 0);
}
#endif

/* Turn them off for all code: 3.12 crashes where an instruction has such an event and the thread no trace function. */
static void
untrace_locally(Core *core)
{
#if HAS_LOCAL_EVENTS
    for (size_t i = 0; core->set_local_events && core->infos.e && i <= core->infos.mask; i++) {
        Info *f = core->infos.e[i].key ? core->infos.e[i].value : NULL;
        if (f && f->local && trace_locally(core, f, false) < 0) PyErr_Clear();
    }
#endif
}

static Thread *
current_thread(Core *core)
{
    uint64_t ident = PyThreadState_Get()->thread_id;
    for (Thread *t = core->threads; t; t = t->next) if (t->ident == ident) return t;
    return NULL;
}

static PyObject *core_clear(Core *core, PyObject *unused);

/* While a thread is at an event, another one may stop the tracer: what it uses is freed when it is done. */
static void
go_in(Core *core)
{
    core->inside++;
    Py_INCREF(core);
}

static void
go_out(Core *core)
{
    if (--core->inside == 0 && core->clear_later) Py_XDECREF(core_clear(core, NULL));
    Py_DECREF(core);
}

/* Tell Python of an error of ours, which is set: the trace ends, the program goes on. */
static void
report_failure(Core *core, Thread *t)
{
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    release(t);
    t->revisit = NULL;
    t->wild = true;
    t->scratch.n = 0;
    PyObject *done = QUIETLY(PyObject_CallMethod(core->tracer, "_failed", "O", error ? error : Py_None));
    Py_XDECREF(done);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
    PyErr_Clear();
}

static const char *const event_names[] = {"call", "exception", "line", "return", "", "", "", "opcode"};  /* of sys.settrace */

/* Tell of an event of the frame that is followed. The tracer may be stopped then. */
static int
tell(Core *core, int what, PyObject *arg)
{
    if (what != PyTrace_EXCEPTION && what != PyTrace_RETURN) return 0;
    PyObject *told = Py_NewRef(core->told);
    if (what == PyTrace_RETURN) core->followed = NULL;
    PyObject *done = QUIETLY(PyObject_CallFunction(told, "sO", event_names[what], arg ? arg : Py_None));
    Py_DECREF(told);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/* What the interpreter calls. An error of ours ends the trace and leaves the program alone. */
static int
hook(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    Core *core = (Core *)self;
    Thread *t = current_thread(core);
    if (!t) return 0;
    bool user = t->user;
    if (core->on && !core->cut) {
        Info *info = known_info(core, frame_code(frame->f_frame));
        if (!info || info->in_scope) {
            PyObject *type, *value, *traceback;
            PyThreadState *ts = PyThreadState_Get();
            bool raised = raising(ts);
            if (raised) PyErr_Fetch(&type, &value, &traceback);
            Collector collector = collector_waits(ts);  /* or finalisers of the program would run inside of us */
            t->alone = !observed(core, ts);
            int *left = recursion_left(ts), had = *left;
            *left += 300;
            int failed = 0;
            go_in(core);
            if (!info) failed = !(info = info_of(t, frame_code(frame->f_frame)));
            if (!failed && info->in_scope) account(t, frame, info, what);
            if (!failed && info->in_scope)
                failed = what == PyTrace_CALL ? on_call(t, frame) : on_event(t, frame, what, arg);
            if (!failed && core->followed == frame) failed = tell(core, what, arg);
            *left = had;
            if (failed) {
                report_failure(core, t);
            }
            go_out(core);
            collector_goes_on(ts, collector);
            if (raised) PyErr_Restore(type, value, traceback);
            else if (raising(ts)) PyErr_Clear();
        }
    }
    if (user) {
        PyObject *done = PyObject_CallMethod(core->tracer, "_user_event", "OsO", (PyObject *)frame, event_names[what], arg ? arg : Py_None);
        if (!done) {  /* the program's trace function has failed: the interpreter forgets it, and ours with it */
            PyObject *type, *value, *traceback;
            PyErr_Fetch(&type, &value, &traceback);
            untrace_locally(core);
            PyEval_SetTrace(NULL, NULL);
            untrace_opcodes(frame);
            PyErr_Restore(type, value, traceback);
            return -1;
        }
        Py_DECREF(done);
    }
    return 0;
}

/* ---- what Python sees ---------------------------------------------------------------------------- */

static PyObject *
core_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *tracer, *scope, *modules;
    long long events;
    Py_ssize_t items, text_chars, objects, block_bytes;
    int depth, instructions, call_depth, repetitions, only_some;
    if (!PyArg_ParseTuple(args, "OO!O!Lnnninpiip", &tracer, &PyDict_Type, &scope, &PySet_Type, &modules, &events, &items,
                          &text_chars, &objects, &depth, &block_bytes, &instructions, &call_depth, &repetitions,
                          &only_some)) return NULL;
    Core *core = (Core *)type->tp_alloc(type, 0);
    if (!core) return NULL;
    core->tracer = tracer;
    core->scope = Py_NewRef(scope);
    core->modules = Py_NewRef(modules);
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
    for (Obj *o = t->all, *next; o; o = next) {
        next = o->next;
        content_free(&o->c);
        free(o->revisit.p);
        Py_XDECREF(o->weak);
        free(o);
    }
    map_free(&t->frames);
    map_free(&t->raised);
    map_free(&t->objects);
    free(t->active); free(t->queue); free(t->refs.p); free(t->maybe.p); free(t->held.p); free(t->values.p);
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
    if (watching == core) { watching = NULL; if (!registered.used) unwatch_all(); }
    Thread *threads = core->threads;
    core->threads = NULL;
    for (Thread *t = threads, *next; t; t = next) { next = t->next; thread_free(t); }
    for (size_t i = 0; core->infos.e && i <= core->infos.mask; i++)
        if (core->infos.e[i].key) {
            Info *f = core->infos.e[i].value;
            if (f->in_scope) {
                free(f->hidden); free(f->order); free(f->owner); free(f->op); free(f->depth); free(f->tags); free(f->pool);
                free(f->kept); free(f->caught); free(f->operands); free(f->comprehension); free(f->enters); free(f->guarded);
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
            TypeInfo *k = core->types.e[i].value;
            for (int n = 0; n < k->nslots; n++) Py_DECREF(k->names[n]);
            free(k->names);
            free(k->offsets);
            Py_XDECREF(k->weak);
            Py_XDECREF(k->head);
            free(k);
        }
    map_free(&core->types);
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

/* register(object): have its death told, if its type is written in C and has no weak references. */
static PyObject *
register_object(PyObject *module, PyObject *o)
{
    if (Py_TYPE(o)->tp_flags & Py_TPFLAGS_HEAPTYPE || Py_TYPE(o)->tp_weaklistoffset) Py_RETURN_NONE;
    watch(Py_TYPE(o));
    map_put(&registered, (uint64_t)o, &registered);
    Py_RETURN_NONE;
}

/* deaths(): addresses of registered objects that have died since it was last asked. */
static PyObject *
deaths_since(PyObject *module, PyObject *unused)
{
    size_t n = died.n / sizeof(PyObject *);
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong((unsigned long long)((uint64_t *)died.p)[i]);
        if (!number) { Py_CLEAR(list); break; }
        PyList_SET_ITEM(list, (Py_ssize_t)i, number);
    }
    died.n = 0;
    return list;
}

/* forget_deaths(): watch nothing any more. */
static PyObject *
forget_deaths(PyObject *module, PyObject *unused)
{
    map_free(&registered);
    buf_free(&died);
    if (!watching) unwatch_all();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"register", register_object, METH_O, "have an object's death told"},
    {"deaths", deaths_since, METH_NOARGS, "addresses of registered objects that have died since"},
    {"forget_deaths", forget_deaths, METH_NOARGS, "watch nothing any more"},
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
    if (PyErr_Occurred() || PyType_Ready(&CoreType) < 0) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (!module || PyModule_AddObjectRef(module, "Core", (PyObject *)&CoreType) < 0) return NULL;
    return module;
}
