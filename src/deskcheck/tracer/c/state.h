/* What the tracer knows: of code objects, of frames, of threads, of itself. Included by tracer.c alone, as all that
   follows there: one unit for the compiler, an idea a file for the reader. */

enum {
    OP_RETURNS = 1, OP_NO_LINE = 2, OP_LOOP_ENDS = 4, OP_GOES_ON = 8, OP_ASKS_NEXT = 16, OP_STARTING = 32,
    OP_NO_INTERRUPT = 64, OP_RERAISE = 128, OP_CLEANUP_THROW = 256, OP_JUMPS_BACK = 512, OP_YIELD_POINT = 1024,
    OP_CALLS = 2048, OP_RAISES_AGAIN = 4096, OP_ASYNC_ENDS = 8192, OP_TOLD_AGAIN = 16384, OP_LINE_MISSED = 32768,
};
typedef struct {             /* Act in _effects.py, which says what each is */
    int kind, since, slot, arguments, on_list, on_dict, on_set, on_still, key_kind, key, position, first, last;
    PyObject *name, *attribute, *method;
} Act;

enum { IS_VALUE = 1, IS_METHOD = 2 };  /* tags of stack slots (VALUE and METHOD in frames.py) */
typedef struct Info {
    PyCodeObject *code;      /* strong: its address stays its own */
    PyObject *file, *function, *facts;
    bool local, in_scope, iterates, optimized, is_module, is_comprehension, needs_opcodes, is_lambda, is_del, keeps_roots;
    int first_line, first_resume, nnames, nparams, free_from, nunits;
    PyObject **names;        /* borrowed from `held` */
    bool *hidden;
    int *order;              /* parameters, then by name */
    int *owner;              /* by code unit: offset of its instruction */
    uint16_t *op;
    int *depth;              /* slots before the instruction; -1 if it is not reachable */
    int *tags;               /* where its tags begin in `pool` */
    char *pool;              /* IS_VALUE, IS_METHOD */
    int *kept, *caught, *operands;
    int *left;               /* by code unit: how many stack slots the rest of its line leaves alone */
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
    Objs left;                   /* of frames that it called and that have ended: they keep their numbers until its next event */
    int line, last_line, last_offset;
    uint64_t seen;               /* the event at which its variables were looked at last */
    bool merged;                 /* its variables then were those of several frames: of comprehensions, too */
    bool moves;                  /* an iterator is among its refs */
    bool active, bypassed;       /* it is among `active`; there only because a `throw` goes past it */
    bool propagating, closing, unfolding, after_comprehension;
    bool via;                    /* called or resumed last through code in C, or of a library */
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
enum { KEPT_NUMBERS = 1000 };   /* of `left`: see reference.py */
enum { DEEP, REPEATED, CALLED, LEFT_OUT };

typedef struct { PyObject *text, *name; } Said;  /* how a function or class is written, and its name when that was made */

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
    Objs in_flight, left;        /* left: as that of a frame, where none is left that is recorded */
    bool dirty, user, doubt, alone, reread;
    struct {                     /* where the last event left off */
        IFrame *frame;
        Info *info;
        int offset, depth;       /* depth, tags: shape of the value stack, where the line is `shown` */
        const char *tags;
        bool after, resumed, single, shown, follows;  /* shown: a line, written; follows: one is at hand and nothing came between */
        int left;                /* how many stack slots are as they were there */
        uint64_t stored;
    } at;
    Return *returns;
    size_t nreturns, capreturns;
    bool hooked;                 /* an object was seen whose death runs code that is not recorded: it may die at any instruction */
    bool beyond;                 /* something lies beyond the limit on depth: how deep, that changes with who refers to it */
    bool named;                  /* a value was seen whose text tells of its attributes (a member of an enumeration) */
    bool wild, drains, returned_drains, iterates;  /* since the last event anything may have changed; iterators may have been drawn from; a loop's was */
    Objs touched;                /* what alone may have changed, if not */
    uint64_t touches;            /* how often something was found to change */
    uint64_t quiet;              /* what was looked at in this event or later has not changed since */
    uint64_t replaced_at;        /* the last event that found a __class__ assigned: what was read before may hold the object */
    size_t fresh;                /* objects that this event has found */
    Objs iterators;              /* all that are known */
    size_t exotics, moved;       /* such objects that are known; iterators seen at this event */
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
    Pys held, values, attached;  /* attached: of `loops`, those that hold their sequence while an event is told */
    Map loops;                   /* by stack slot: the iterator that a loop is shown with (loop_iterator) */
    struct { Obj *obj; uint64_t number; size_t from, to; } *segments;
    size_t nsegments, capsegments;
    uint64_t *gone;
    size_t ngone, capgone;
    uint64_t *replaced;
    size_t nreplaced, capreplaced;
    Buf scratch, locals, stack, global_text, objects_text, caller, value;
    Val *vals;
    size_t capvals;
    uint64_t marks;
    struct Copy *copies;         /* of long texts that names have had (texts.h) */
    uint64_t looked_at, anything;  /* objects looked at; events at which anything may have changed */
    int64_t left_out[LEFT_OUT];  /* since the last event (docs/reference/format.md, Gaps) */
    struct Thread *next;
} Thread;

typedef struct Core {
    PyObject_HEAD
    PyObject *tracer;            /* the Python object, borrowed: it owns this one */
    PyObject *scope, *modules;
    PyObject *hidden;            /* a set: names of module namespaces that are not recorded */
    bool instructions;
    int64_t events;
    uint64_t stamps;             /* of all threads: what is known of types is theirs together */
    Py_ssize_t items, text_chars, objects;
    int depth, call_depth, repetitions;  /* the latter: 0 is no limit */
    bool only_some;              /* code of the recorded files may run unseen */
    Map infos, types, said;      /* said: a Said for each function and class of a library that was seen */
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
