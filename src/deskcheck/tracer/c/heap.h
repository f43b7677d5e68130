/* Values and objects as the tracer knows them: compared by value, never by holding a reference.

   A Val stands for the text that the reference tracer would write for a value: two are equal exactly
   when the texts are (texts and strings by a 64-bit hash). An Obj is an object with an identity number
   and its content as of the last time it was looked at. */
#ifndef DESKCHECK_HEAP_H
#define DESKCHECK_HEAP_H

#include "dicts.h"

enum { V_UNBOUND, V_NONE, V_TRUE, V_FALSE, V_INT, V_FLOAT, V_STR, V_TEXT, V_REF, V_TUPLE };
typedef struct { uint64_t a, b; } Val;  /* a: tag, and above it a length; b: the value, a hash or a number */
static inline bool same(Val x, Val y) { return x.a == y.a && x.b == y.b; }

typedef struct Obj Obj;
typedef struct { Obj **p; size_t n, cap; } Objs;
typedef struct { PyObject **p; size_t n, cap; } Pys;

static inline void
objs_add(Objs *l, Obj *o)
{
    if (l->n == l->cap) l->p = must(realloc(l->p, (l->cap = l->cap * 2 + 8) * sizeof(Obj *)));
    l->p[l->n++] = o;
}
static inline void
pys_add(Pys *l, PyObject *o)
{
    if (l->n == l->cap) l->p = must(realloc(l->p, (l->cap = l->cap * 2 + 8) * sizeof(PyObject *)));
    l->p[l->n++] = o;
}

typedef struct { PyObject *name; Val v; } Field;

typedef struct { int64_t length; char cut[16]; } Tail;  /* what of a container is not shown: its length, -1 for none, and why */
static inline bool same_tail(const Tail *x, const Tail *y) { return x->length == y->length && strcmp(x->cut, y->cut) == 0; }

typedef struct {
    Val head;
    Tail tail;
    bool has_items;
    Val *items;
    size_t n, cap;
    Field *fields;
    size_t nf;
    Obj **refs;
    size_t nrefs, caprefs;
    PyObject **seen;     /* of a list of atoms: the items' addresses, compared and never followed */
    bool *stable;        /* by chunk of them: the same addresses are the same values */
    size_t nseen, capseen;
} Content;

enum { EVERYWHERE = PY_SSIZE_T_MIN, AT_END = PY_SSIZE_T_MIN + 1 };

struct Obj {
    uint64_t number;
    PyObject *address;
    PyTypeObject *type;
    bool placed;         /* an iterator that is told apart by its place */
    uint64_t over;
    double position;
    uint64_t visited;    /* the event that saw it last */
    uint64_t mark;
    uint64_t root_of;    /* the event that had it as a root, if that was asked */
    size_t roots, rc;    /* references from frames, globals and values in flight; from contents */
    size_t on_stacks;    /* those of its roots that are value stacks of frames */
    size_t place;        /* of an iterator: among all */
    size_t users;        /* lists that name it: it is freed when it is dead and this is 0 */
    Obj *hint;           /* an object whose content refers to this one, or NULL */
    bool watched;        /* its death is noticed; else it keeps its number for one event only */
    bool known, dead, listed, moves, exotic;  /* moves: an iterator; exotic: C code may change it by an operator, or another
                            object shows its content */
    signed char touched; /* the last line may have changed it: how many steps it is from a variable; 0 if not */
    Py_ssize_t only;     /* of a list: where alone; EVERYWHERE or AT_END */
    Content c;
    uint64_t version;    /* of the dict that decides the content, if it has one; 0 for none */
    uint64_t read;       /* the event in which its content was read last */
    Pys revisit;         /* what such a content refers to */
    Obj *next, *prev;
};

typedef struct {
    uint64_t checked;    /* the event at which it was last found to hold */
    uint64_t version;
    int mode;
    PyObject *head;      /* text of an instance's content up to its fields */
    Val head_val;
    PyObject **names;    /* of the slots */
    Py_ssize_t *offsets;
    PyObject *hidden;    /* a frozenset: attributes that are not shown; NULL for none */
    int nslots;
    bool has_dict, watched, placed, moves, exotic;
} TypeInfo;
enum {
    M_INLINE = 0,   /* ask each time: text, or by reference */
    M_CONTENT = 1,  /* by reference; content through Python */
    M_INSTANCE = 2, /* by reference; slots and dict */
    M_OPAQUE = 3,   /* by reference; nothing is looked into */
    M_EXCEPTION = 4, /* as M_INSTANCE, and its args */
    M_POINTERS = 5, /* as M_CONTENT; the structure in C is pointers to what it consists of: the same as long as they are */
    M_ARRAY = 6,    /* as M_CONTENT; the structure in C, and the memory that its buffer shows, are what it consists of */
};
#endif
