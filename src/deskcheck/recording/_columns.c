/* Events of blocks (block.py says how one is written) as columns in Arrow's layout. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TEXTS = 9, CONTEXT = 0x10, COLUMNS = 0x20, GAP = 0x40, KINDS = 8, INSTRUCTION_KIND = 7 };
enum { RECORDING, THREAD, INDEX, KIND, FRAME, FUNCTION, FILE_NAME, LINE, OFFSET, NUMBERS };
static const size_t WIDTHS[NUMBERS] = {4, 4, 8, 4, 4, 4, 4, 4, 4};
static const unsigned char MAGIC[3] = {0xDC, 'K', 1};

/* ---- reading ---- */

typedef struct { const unsigned char *p, *end, *start; bool bad; } In;

static inline uint64_t
number(In *in)
{
    if (in->p < in->end && *in->p < 0x80) return *in->p++;
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (in->p >= in->end) break;
        unsigned char c = *in->p++;
        v |= (uint64_t)(c & 0x7F) << shift;
        if (c < 0x80) return v;
    }
    in->bad = true;
    return 0;
}

static inline const char *
text(In *in, size_t *n)
{
    *n = number(in);
    if (in->bad || *n > (size_t)(in->end - in->p)) { in->bad = true; *n = 0; return ""; }
    in->p += *n;
    return (const char *)in->p - *n;
}

/* What stays the same from one event of a block to the next. */
typedef struct { int32_t thread, frame; int64_t index; uint64_t code, codes; } Context;
typedef struct { const char *function, *file; size_t function_n, file_n; bool fresh; } Names;
typedef struct { int kind; int32_t line, offset; unsigned present; } Head;

static In
opened(const void *block, size_t n)
{
    const unsigned char *p = block;
    bool bad = n < sizeof MAGIC || memcmp(p, MAGIC, sizeof MAGIC);
    return (In){bad ? p : p + sizeof MAGIC, p + n, p, bad};
}

/* The numbers of the next event; its texts follow. */
static inline bool
head_of(In *in, Context *c, Names *names, Head *head)
{
    unsigned first = *in->p++;
    names->fresh = false;
    c->index++;
    if (first & 0x80 || (first & 0xF) >= KINDS) return !(in->bad = true);
    if (first & CONTEXT) {
        c->thread = (int32_t)number(in);
        c->index = (int64_t)number(in);
        c->frame = (int32_t)number(in);
        c->code = number(in);
        if (c->code == c->codes) {
            names->function = text(in, &names->function_n);
            names->file = text(in, &names->file_n);
            names->fresh = true;
            c->codes++;
        }
    }
    head->kind = (int)(first & 0xF);
    head->line = (int32_t)number(in);
    head->offset = (int32_t)((uint32_t)number(in) - 1u);
    head->present = 0;
    if (first & COLUMNS) {
        if (in->p >= in->end) return !(in->bad = true);
        head->present = *in->p++;
    }
    head->present |= (first & GAP) << 2;
    if (c->code >= c->codes) in->bad = true;
    return !in->bad;
}

static PyObject *
damaged(const In *in, long long rows)
{
    return PyErr_Format(PyExc_ValueError, "the block ends or is damaged at byte %zd of %zd, after %lld events",
                        (Py_ssize_t)(in->p - in->start), (Py_ssize_t)(in->end - in->start), rows);
}

/* ---- buffers, which are bytes objects from the start ---- */

typedef struct { PyObject *bytes; char *p; size_t n, cap; } Buf;

static bool
room(Buf *b, size_t more)
{
    if (b->n + more <= b->cap) return true;
    size_t cap = b->cap * 2 > b->n + more ? b->cap * 2 : b->n + more + 4096;
    if (!b->bytes) b->bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)cap);
    else _PyBytes_Resize(&b->bytes, (Py_ssize_t)cap);
    if (!b->bytes) { *b = (Buf){0}; return false; }
    b->p = PyBytes_AS_STRING(b->bytes);
    b->cap = cap;
    return true;
}

static bool
put(Buf *b, const void *p, size_t n)
{
    if (!room(b, n)) return false;
    memcpy(b->p + b->n, p, n);
    b->n += n;
    return true;
}

/* The bytes object of a buffer, which is empty afterwards. */
static PyObject *
taken(Buf *b)
{
    if (!b->bytes) return PyBytes_FromStringAndSize(NULL, 0);
    PyObject *bytes = b->bytes;
    if (_PyBytes_Resize(&bytes, (Py_ssize_t)b->n) < 0) bytes = NULL;
    *b = (Buf){0};
    return bytes;
}

/* UTF-8 that Arrow takes: a lone surrogate, which the tracer passes, becomes `\udcff` in its place. */
static bool
put_text(Buf *b, const char *p, size_t n)
{
    const char *surrogate = memchr(p, 0xED, n);
    if (!surrogate) return put(b, p, n);
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)p[i];
        if (c == 0xED && i + 2 < n && (unsigned char)p[i + 1] >= 0xA0) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x",
                     0xD000 | ((unsigned char)p[i + 1] & 0x3F) << 6 | ((unsigned char)p[i + 2] & 0x3F));
            if (!put(b, escape, 6)) return false;
            i += 2;
        } else if (!put(b, p + i, 1)) return false;
    }
    return true;
}

/* ---- columns ---- */

typedef struct { Buf valid, offsets, data; size_t filled; } Column;
typedef struct { int32_t function, file; } Code;
typedef struct {
    Buf numbers[NUMBERS];
    Column texts[TEXTS];
    PyObject *functions, *files, *recordings;   /* bytes or str -> its number */
    Code *codes;
    size_t codes_cap;
    size_t rows;
} Columns;

static void
drop(Columns *t)
{
    for (int i = 0; i < NUMBERS; i++) Py_XDECREF(t->numbers[i].bytes);
    for (int i = 0; i < TEXTS; i++) {
        Py_XDECREF(t->texts[i].valid.bytes);
        Py_XDECREF(t->texts[i].offsets.bytes);
        Py_XDECREF(t->texts[i].data.bytes);
    }
    Py_XDECREF(t->functions);
    Py_XDECREF(t->files);
    Py_XDECREF(t->recordings);
    PyMem_Free(t->codes);
}

/* The number of a name, which it gets at its first use; -1 with an error. Takes the reference to it. */
static int32_t
numbered(PyObject *numbers, PyObject *name)
{
    if (!name) return -1;
    int32_t place = -1;
    PyObject *known = PyDict_GetItemWithError(numbers, name);
    if (known) place = (int32_t)PyLong_AsLong(known);
    else if (!PyErr_Occurred()) {
        PyObject *next = PyLong_FromSsize_t(PyDict_GET_SIZE(numbers));
        if (next && PyDict_SetItem(numbers, name, next) == 0) place = (int32_t)PyLong_AsLong(next);
        Py_XDECREF(next);
    }
    Py_DECREF(name);
    return place;
}

static PyObject *
name_of(const char *p, size_t n)
{
    Buf b = {0};
    if (!put_text(&b, p, n)) { Py_XDECREF(b.bytes); return NULL; }
    return taken(&b);
}

static bool
know(Columns *t, const Context *c, const Names *names)
{
    if (c->code >= t->codes_cap) {
        size_t cap = 2 * t->codes_cap + 64;
        Code *more = PyMem_Realloc(t->codes, cap * sizeof *more);
        if (!more) { PyErr_NoMemory(); return false; }
        t->codes = more;
        t->codes_cap = cap;
    }
    Code *code = &t->codes[c->code];
    code->function = numbered(t->functions, name_of(names->function, names->function_n));
    code->file = code->function < 0 ? -1 : numbered(t->files, name_of(names->file, names->file_n));
    return code->file >= 0;
}

/* The ends of the texts up to this row, which are that of the last text. */
static bool
fill(Column *column, size_t rows)
{
    size_t lacking = rows + 1 - column->filled;
    if (!room(&column->offsets, lacking * 4)) return false;
    int32_t end = (int32_t)column->data.n, *at = (int32_t *)(column->offsets.p + column->offsets.n);
    for (size_t i = 0; i < lacking; i++) at[i] = end;
    column->offsets.n += lacking * 4;
    column->filled = rows + 1;
    return true;
}

static bool
add_text(Column *column, size_t row, const char *p, size_t n)
{
    if (!fill(column, row) || !put_text(&column->data, p, n)) return false;
    if (column->data.n > INT32_MAX) { PyErr_SetString(PyExc_OverflowError, "texts of more than 2 GiB together"); return false; }
    size_t byte = row / 8;
    if (byte >= column->valid.n) {
        size_t more = byte + 1 - column->valid.n;
        if (!room(&column->valid, more)) return false;
        memset(column->valid.p + column->valid.n, 0, more);
        column->valid.n += more;
    }
    column->valid.p[byte] |= (char)(1 << row % 8);
    return true;
}

/* Add the events of a block. False with an error set. */
static bool
add(Columns *t, In *in, int32_t recording)
{
    Context c = {.index = -1};
    while (in->p < in->end && !in->bad) {
        Names names;
        Head head;
        if (!head_of(in, &c, &names, &head)) break;
        if (names.fresh && !know(t, &c, &names)) return false;
        for (int i = 0; i < NUMBERS; i++) if (!room(&t->numbers[i], WIDTHS[i])) return false;
        size_t row = t->rows++;
#define PUT(column, type, value) (((type *)t->numbers[column].p)[row] = (value), t->numbers[column].n += sizeof(type))
        PUT(RECORDING, int32_t, recording);
        PUT(THREAD, int32_t, c.thread);
        PUT(INDEX, int64_t, c.index);
        PUT(KIND, int32_t, head.kind);
        PUT(FRAME, int32_t, c.frame);
        PUT(FUNCTION, int32_t, t->codes[c.code].function);
        PUT(FILE_NAME, int32_t, t->codes[c.code].file);
        PUT(LINE, int32_t, head.line);
        PUT(OFFSET, int32_t, head.offset);
        for (unsigned left = head.present, i = 0; left; left >>= 1, i++) {
            if (!(left & 1)) continue;
            size_t n;
            const char *p = text(in, &n);
            if (in->bad) break;
            if (!add_text(&t->texts[i], row, p, n)) return false;
        }
    }
    if (in->bad) damaged(in, (long long)t->rows);
    return !in->bad;
}

/* Add blocks, each after its length in four bytes (`block.save`). */
static bool
add_all(Columns *t, const Py_buffer *blocks, int32_t recording)
{
    const unsigned char *p = blocks->buf, *end = p + blocks->len;
    while (p < end) {
        size_t n = end - p < 4 ? SIZE_MAX : (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
        if (n > (size_t)(end - p) - 4) { PyErr_SetString(PyExc_ValueError, "a block is cut off"); return false; }
        In in = opened(p + 4, n);
        if (!add(t, &in, recording)) return false;
        p += 4 + n;
    }
    return true;
}

static PyObject *
result_of(Columns *t)
{
    PyObject *numbers = PyList_New(NUMBERS), *texts = PyList_New(TEXTS), *result = NULL;
    for (int i = 0; numbers && i < NUMBERS; i++) PyList_SET_ITEM(numbers, i, taken(&t->numbers[i]));
    for (int i = 0; texts && i < TEXTS; i++) {
        Column *column = &t->texts[i];
        if (!column->filled) { PyList_SET_ITEM(texts, i, Py_NewRef(Py_None)); continue; }
        size_t lacking = (t->rows + 7) / 8 - column->valid.n;
        if (!fill(column, t->rows) || !room(&column->valid, lacking)) goto done;
        memset(column->valid.p + column->valid.n, 0, lacking);
        column->valid.n += lacking;
        PyList_SET_ITEM(texts, i, Py_BuildValue("(NNN)", taken(&column->valid), taken(&column->offsets), taken(&column->data)));
    }
    if (numbers && texts && !PyErr_Occurred())
        result = Py_BuildValue("(nOOOOO)", (Py_ssize_t)t->rows, numbers, t->recordings, t->functions, t->files, texts);
done:
    Py_XDECREF(numbers);
    Py_XDECREF(texts);
    return result;
}

static PyObject *
columns(PyObject *module, PyObject *parts)
{
    Columns t = {.functions = PyDict_New(), .files = PyDict_New(), .recordings = PyDict_New()};
    PyObject *result = NULL;
    if (!t.functions || !t.files || !t.recordings) goto done;
    if (!PyList_Check(parts)) { PyErr_SetString(PyExc_TypeError, "not a list"); goto done; }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(parts); i++) {
        PyObject *recording;
        Py_buffer blocks;
        if (!PyArg_ParseTuple(PyList_GET_ITEM(parts, i), "Uy*", &recording, &blocks)) goto done;
        int32_t place = numbered(t.recordings, Py_NewRef(recording));
        bool right = place >= 0 && add_all(&t, &blocks, place);
        PyBuffer_Release(&blocks);
        if (!right) goto done;
    }
    result = result_of(&t);
done:
    drop(&t);
    return result;
}

static PyObject *
counts(PyObject *module, PyObject *block)
{
    Py_buffer view;
    if (PyObject_GetBuffer(block, &view, PyBUF_SIMPLE) < 0) return NULL;
    In in = opened(view.buf, (size_t)view.len);
    Context c = {.index = -1};
    long long events = 0, instructions = 0, names_bytes = 0;
    long threads = 0;
    size_t *lengths = NULL, cap = 0;    /* of the names of each code */
    PyObject *result = NULL;
    while (in.p < in.end && !in.bad) {
        Names names;
        Head head;
        if (!head_of(&in, &c, &names, &head)) break;
        if (names.fresh) {
            if (c.code >= cap) {
                size_t *more = PyMem_Realloc(lengths, (cap = 2 * cap + 64) * sizeof *more);
                if (!more) { PyErr_NoMemory(); goto done; }
                lengths = more;
            }
            lengths[c.code] = names.function_n + names.file_n;
        }
        size_t n;
        for (unsigned left = head.present; left; left &= left - 1) text(&in, &n);
        if (in.bad) break;
        events++;
        instructions += head.kind == INSTRUCTION_KIND;
        names_bytes += (long long)lengths[c.code];
        if (c.thread >= threads) threads = (long)c.thread + 1;
    }
    result = in.bad ? damaged(&in, events) : Py_BuildValue("(LLlL)", events, instructions, threads, names_bytes);
done:
    PyMem_Free(lengths);
    PyBuffer_Release(&view);
    return result;
}

static PyMethodDef functions[] = {
    {"columns", columns, METH_O, "columns(parts): the events of (recording, saved blocks) pairs in Arrow's layout"},
    {"counts", counts, METH_O, "counts(block): its events, instructions, threads, bytes of the events' names"},
    {NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_columns", .m_doc = "Blocks of events as columns.", .m_size = 0, .m_methods = functions,
};
PyMODINIT_FUNC PyInit__columns(void) { return PyModule_Create(&definition); }
