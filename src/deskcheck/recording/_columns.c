/* Events of a block (block.py says how one is written) as columns in Arrow's layout. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 9, CONTEXT = 0x10, COLUMNS = 0x20, GAP = 0x40, KINDS = 8 };

typedef struct { char *p; size_t n, cap; } Buf;

static bool
put(Buf *b, const void *p, size_t n)
{
    if (b->n + n > b->cap) {
        size_t cap = b->cap * 2 > b->n + n ? b->cap * 2 : b->n + n + 1024;
        char *more = realloc(b->p, cap);
        if (!more) return false;
        b->p = more;
        b->cap = cap;
    }
    memcpy(b->p + b->n, p, n);
    b->n += n;
    return true;
}

typedef struct { const unsigned char *p, *end; bool bad; } In;

static uint64_t
number(In *in)
{
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

static const char *
text(In *in, size_t *n)
{
    *n = number(in);
    if (in->bad || *n > (size_t)(in->end - in->p)) { in->bad = true; return ""; }
    in->p += *n;
    return (const char *)in->p - *n;
}

/* UTF-8 that Arrow takes: a lone surrogate, which the tracer passes, becomes `\udcff` in its place. */
static bool
put_text(Buf *b, const char *p, size_t n)
{
    const char *found = memchr(p, 0xED, n);
    if (!found) return put(b, p, n);
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

static PyObject *
bytes_of(Buf *b)
{
    return PyBytes_FromStringAndSize(b->p, (Py_ssize_t)b->n);
}

/* columns(block, start) -> (rows, [thread, index, kind, frame, code, line, offset], codes, [(validity, offsets, data)]) */
static PyObject *
columns(PyObject *module, PyObject *args)
{
    Py_buffer block;
    Py_ssize_t start;
    if (!PyArg_ParseTuple(args, "y*n", &block, &start)) return NULL;
    In in = {(unsigned char *)block.buf + start, (unsigned char *)block.buf + block.len, false};
    Buf numbers[7] = {{0}}, valid[TEXTS] = {{0}}, offsets[TEXTS] = {{0}}, data[TEXTS] = {{0}};
    PyObject *codes = PyList_New(0), *result = NULL;
    int32_t thread = 0, frame = 0, code = 0, zero = 0;
    int64_t index = -1, rows = 0;
    bool memory = codes != NULL;
    uint64_t present_any = 0;
    for (int i = 0; i < TEXTS; i++) memory = memory && put(&offsets[i], &zero, 4);
    while (memory && !in.bad && in.p < in.end) {
        unsigned head = *in.p++;
        index++;
        if ((head & 0xF) >= KINDS) { in.bad = true; break; }
        if (head & CONTEXT) {
            thread = (int32_t)number(&in);
            index = (int64_t)number(&in);
            frame = (int32_t)number(&in);
            code = (int32_t)number(&in);
            if (code == PyList_GET_SIZE(codes)) {
                size_t n, m;
                const char *function = text(&in, &n), *file = text(&in, &m);
                Buf a = {0}, b = {0};
                memory = put_text(&a, function, n) && put_text(&b, file, m);
                PyObject *pair = in.bad || !memory ? NULL : Py_BuildValue("(s#s#)", a.p ? a.p : "", (Py_ssize_t)a.n, b.p ? b.p : "", (Py_ssize_t)b.n);
                free(a.p);
                free(b.p);
                if (!pair || PyList_Append(codes, pair) < 0) { Py_XDECREF(pair); if (PyErr_Occurred()) goto done; break; }
                Py_DECREF(pair);
            } else if (code > PyList_GET_SIZE(codes)) { in.bad = true; break; }
        }
        int32_t line = (int32_t)number(&in), offset = (int32_t)number(&in) - 1;
        int8_t kind = (int8_t)(head & 0xF);
        unsigned present = 0;
        if (head & COLUMNS) {
            if (in.p >= in.end) { in.bad = true; break; }
            present = *in.p++;
        }
        present |= (head & GAP) << 2;
        if (in.bad || PyList_GET_SIZE(codes) == 0) { in.bad = true; break; }
        memory = put(&numbers[0], &thread, 4) && put(&numbers[1], &index, 8) && put(&numbers[2], &kind, 1)
            && put(&numbers[3], &frame, 4) && put(&numbers[4], &code, 4) && put(&numbers[5], &line, 4)
            && put(&numbers[6], &offset, 4);
        present_any |= present;
        for (int i = 0; i < TEXTS && memory; i++) {
            if (rows % 8 == 0) { unsigned char none = 0; memory = put(&valid[i], &none, 1); }
            if (memory && present & 1u << i) {
                size_t n;
                const char *p = text(&in, &n);
                valid[i].p[valid[i].n - 1] |= (char)(1 << rows % 8);
                memory = put_text(&data[i], p, n);
            }
            int32_t end = (int32_t)data[i].n;
            memory = memory && put(&offsets[i], &end, 4);
        }
        if (in.bad) break;
        rows++;
    }
    if (!memory) { PyErr_NoMemory(); goto done; }
    if (in.bad) {
        PyErr_Format(PyExc_ValueError, "the block ends or is damaged at byte %zd of %zd, after %lld events",
                     (Py_ssize_t)(in.p - (unsigned char *)block.buf), block.len, (long long)rows);
        goto done;
    }
    PyObject *fixed = PyList_New(7), *texts = PyList_New(TEXTS);
    for (int i = 0; fixed && i < 7; i++) PyList_SET_ITEM(fixed, i, bytes_of(&numbers[i]));
    for (int i = 0; texts && i < TEXTS; i++) {
        if (!(present_any & 1u << i)) { PyList_SET_ITEM(texts, i, Py_NewRef(Py_None)); continue; }
        PyList_SET_ITEM(texts, i, Py_BuildValue("(NNN)", bytes_of(&valid[i]), bytes_of(&offsets[i]), bytes_of(&data[i])));
    }
    if (fixed && texts && !PyErr_Occurred()) result = Py_BuildValue("(LOOO)", (long long)rows, fixed, codes, texts);
    Py_XDECREF(fixed);
    Py_XDECREF(texts);
done:
    for (int i = 0; i < 7; i++) free(numbers[i].p);
    for (int i = 0; i < TEXTS; i++) { free(valid[i].p); free(offsets[i].p); free(data[i].p); }
    Py_XDECREF(codes);
    PyBuffer_Release(&block);
    return result;
}

static PyMethodDef functions[] = {{"columns", columns, METH_VARARGS, "columns(block, start): its events in Arrow's layout"}, {NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_columns", .m_doc = "Blocks of events as columns.", .m_size = 0, .m_methods = functions,
};
PyMODINIT_FUNC PyInit__columns(void) { return PyModule_Create(&definition); }
