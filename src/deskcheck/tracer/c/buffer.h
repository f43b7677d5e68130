/* A growing buffer of bytes, the pieces of JSON that are written into it, and a hash map. */
#ifndef DESKCHECK_BUFFER_H
#define DESKCHECK_BUFFER_H

#include "interpreter.h"
#include <stdlib.h>
#include <string.h>

typedef struct { char *p; size_t n, cap; } Buf;

static void *
must(void *p)
{
    if (p == NULL) Py_FatalError("deskcheck: out of memory in the tracer");
    return p;
}

static inline void
buf_room(Buf *b, size_t more)
{
    if (b->n + more > b->cap) {
        size_t cap = b->cap * 2 > b->n + more ? b->cap * 2 : b->n + more + 64;
        b->p = must(realloc(b->p, cap));
        b->cap = cap;
    }
}
static inline void buf_byte(Buf *b, int c) { buf_room(b, 1); b->p[b->n++] = (char)c; }
static inline void
buf_put(Buf *b, const char *s, size_t n)
{
    if (!n) return;
    buf_room(b, n);
    char *to = b->p + b->n;
    b->n += n;
    if (n > 16) memcpy(to, s, n);  /* of what is short the ends may overlap: no call, no loop */
    else if (n >= 8) { memcpy(to, s, 8); memcpy(to + n - 8, s + n - 8, 8); }
    else if (n >= 4) { memcpy(to, s, 4); memcpy(to + n - 4, s + n - 4, 4); }
    else { to[0] = s[0]; to[n / 2] = s[n / 2]; to[n - 1] = s[n - 1]; }
}
#define buf_lit(b, s) buf_put((b), "" s, sizeof(s) - 1)
static inline void buf_free(Buf *b) { free(b->p); b->p = NULL; b->n = b->cap = 0; }

static inline void
buf_varint(Buf *b, uint64_t v)
{
    buf_room(b, 10);
    while (v >= 0x80) { b->p[b->n++] = (char)(v | 0x80); v >>= 7; }
    b->p[b->n++] = (char)v;
}

static inline void
buf_int(Buf *b, int64_t v)
{
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    int digits = 1;
    for (uint64_t rest = u; rest >= 10; rest /= 10) digits++;
    buf_room(b, 21);
    if (v < 0) b->p[b->n++] = '-';
    b->n += (size_t)digits;
    char *p = b->p + b->n;
    do { *--p = (char)('0' + u % 10); u /= 10; } while (u);
}

static inline void
buf_utf8(Buf *b, Py_UCS4 c)
{
    buf_room(b, 4);
    char *p = b->p + b->n;
    if (c < 0x80) { p[0] = (char)c; b->n += 1; }
    else if (c < 0x800) { p[0] = (char)(0xC0 | c >> 6); p[1] = (char)(0x80 | (c & 63)); b->n += 2; }
    else if (c < 0x10000) {
        p[0] = (char)(0xE0 | c >> 12); p[1] = (char)(0x80 | (c >> 6 & 63)); p[2] = (char)(0x80 | (c & 63)); b->n += 3;
    } else {
        p[0] = (char)(0xF0 | c >> 18); p[1] = (char)(0x80 | (c >> 12 & 63));
        p[2] = (char)(0x80 | (c >> 6 & 63)); p[3] = (char)(0x80 | (c & 63)); b->n += 4;
    }
}

static inline void
buf_escape(Buf *b, Py_UCS4 c)
{
    static const char digits[] = "0123456789abcdef";
    buf_room(b, 6);
    char *p = b->p + b->n;
    p[0] = '\\'; p[1] = 'u';
    p[2] = digits[c >> 12 & 15]; p[3] = digits[c >> 8 & 15]; p[4] = digits[c >> 4 & 15]; p[5] = digits[c & 15];
    b->n += 6;
}

/* A character that JSON or ASCII escapes; or beyond ASCII. */
static void
buf_json_char(Buf *b, Py_UCS4 c, bool escaped)
{
    switch (c) {
    case '"': buf_lit(b, "\\\""); break;
    case '\\': buf_lit(b, "\\\\"); break;
    case '\n': buf_lit(b, "\\n"); break;
    case '\r': buf_lit(b, "\\r"); break;
    case '\t': buf_lit(b, "\\t"); break;
    case '\f': buf_lit(b, "\\f"); break;
    case '\b': buf_lit(b, "\\b"); break;
    default:
        if (c < 0x20) buf_escape(b, c);
        else if (!escaped) buf_utf8(b, c);
        else if (c < 0x10000) buf_escape(b, c);
        else {
            c -= 0x10000;
            buf_escape(b, 0xD800 | c >> 10);
            buf_escape(b, 0xDC00 | (c & 0x3FF));
        }
    }
}

static bool PLAIN[256];      /* characters that a JSON string holds as they are, in one byte */
static void
buf_setup(void)
{
    for (int c = 0x20; c < 0x80; c++) PLAIN[c] = c != '"' && c != '\\';
}

/* Characters of a string as a JSON string, as json.encoder.encode_basestring writes it; with
   escapes for everything beyond ASCII if it holds a lone surrogate, which UTF-8 does not have. */
static void
buf_json_part(Buf *b, PyObject *s, Py_ssize_t i, Py_ssize_t n)
{
    int kind = PyUnicode_KIND(s);
    const void *data = PyUnicode_DATA(s);
    bool escaped = false;
    if (kind != PyUnicode_1BYTE_KIND)
        for (Py_ssize_t k = i; k < n && !escaped; k++)
            escaped = (PyUnicode_READ(kind, data, k) & 0xFFFFF800) == 0xD800;
    buf_room(b, (size_t)(n - i) + 2);
    b->p[b->n++] = '"';
    if (kind == PyUnicode_1BYTE_KIND) {
        const unsigned char *p = data;
        while (i < n) {
            Py_ssize_t from = i;
            while (i < n && PLAIN[p[i]]) i++;
            buf_put(b, (const char *)p + from, (size_t)(i - from));
            if (i == n) break;
            buf_json_char(b, p[i++], false);
        }
        buf_byte(b, '"');
        return;
    }
    for (; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ(kind, data, i);
        if (c >= 0x20 && c < 0x80 && c != '"' && c != '\\' && !(escaped && c == 0x7F)) {
            buf_byte(b, (int)c);
            continue;
        }
        buf_json_char(b, c, escaped);
    }
    buf_byte(b, '"');
}

static inline void buf_json(Buf *b, PyObject *s, Py_ssize_t n) { buf_json_part(b, s, 0, n); }

/* Whether a high surrogate is directly before a low one in the first `n` characters (SURROGATE_PAIR). */
static bool
surrogate_pair(PyObject *s, Py_ssize_t n)
{
    int kind = PyUnicode_KIND(s);
    const void *data = PyUnicode_DATA(s);
    if (kind == PyUnicode_1BYTE_KIND) return false;
    for (Py_ssize_t i = 1; i < n; i++)
        if ((PyUnicode_READ(kind, data, i) & 0xFFFFFC00) == 0xDC00
            && (PyUnicode_READ(kind, data, i - 1) & 0xFFFFFC00) == 0xD800) return true;
    return false;
}

/* A string as UTF-8, lone surrogates passed. */
static void
buf_text(Buf *b, PyObject *s)
{
    int kind = PyUnicode_KIND(s);
    const void *data = PyUnicode_DATA(s);
    Py_ssize_t n = PyUnicode_GET_LENGTH(s);
    if (PyUnicode_IS_ASCII(s)) { buf_put(b, data, (size_t)n); return; }
    for (Py_ssize_t i = 0; i < n; i++) buf_utf8(b, PyUnicode_READ(kind, data, i));
}

static inline uint64_t
mix(uint64_t a, uint64_t b)
{
    __uint128_t m = (__uint128_t)(a ^ 0x9E3779B97F4A7C15ull) * (b ^ 0xD6E8FEB86659FD93ull);
    return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint64_t
hash_bytes(const char *p, size_t n)
{
    uint64_t h = mix(n, 0x2545F4914F6CDD1Dull), w;
    if (n >= 64) {  /* four sums side by side */
        uint64_t lane[4] = {h, ~h, h << 1 | 1, h >> 1}, x[4];
        while (n >= 32) {
            memcpy(x, p, 32);
            for (int i = 0; i < 4; i++) lane[i] = mix(lane[i], x[i]);
            p += 32;
            n -= 32;
        }
        h = mix(mix(lane[0], lane[1]), mix(lane[2], lane[3]));
    }
    while (n >= 8) { memcpy(&w, p, 8); h = mix(h, w); p += 8; n -= 8; }
    if (n) { w = 0; memcpy(&w, p, n); h = mix(h, w + 0x100); }
    return h;
}

/* From a nonzero key to a pointer: open addressing. */
typedef struct { uint64_t key; void *value; } MapEntry;
typedef struct { MapEntry *e; size_t mask, used; } Map;

static inline size_t map_slot(const Map *m, uint64_t key) { return (size_t)((key >> 4) * 0x9E3779B97F4A7C15ull >> 20) & m->mask; }

static inline void *
map_get(const Map *m, uint64_t key)
{
    if (!m->e) return NULL;
    for (size_t i = map_slot(m, key); m->e[i].key; i = (i + 1) & m->mask)
        if (m->e[i].key == key) return m->e[i].value;
    return NULL;
}

static void
map_put(Map *m, uint64_t key, void *value)
{
    if (!m->e || m->used * 2 > m->mask) {
        Map old = *m;
        m->mask = old.e ? old.mask * 2 + 1 : 63;
        m->e = must(calloc(m->mask + 1, sizeof(MapEntry)));
        m->used = 0;
        if (old.e)
            for (size_t i = 0; i <= old.mask; i++)
                if (old.e[i].key) map_put(m, old.e[i].key, old.e[i].value);
        free(old.e);
    }
    size_t i = map_slot(m, key);
    while (m->e[i].key && m->e[i].key != key) i = (i + 1) & m->mask;
    if (!m->e[i].key) { m->e[i].key = key; m->used++; }
    m->e[i].value = value;
}

static void
map_del(Map *m, uint64_t key)
{
    if (!m->e) return;
    size_t i = map_slot(m, key);
    while (m->e[i].key && m->e[i].key != key) i = (i + 1) & m->mask;
    if (!m->e[i].key) return;
    m->used--;
    for (size_t j = i;;) {  /* close the gap, so that no marks of deleted entries are needed */
        j = (j + 1) & m->mask;
        if (!m->e[j].key) break;
        size_t home = map_slot(m, m->e[j].key);
        if (((j - home) & m->mask) >= ((j - i) & m->mask)) { m->e[i] = m->e[j]; i = j; }
    }
    m->e[i].key = 0;
}

static void map_free(Map *m) { free(m->e); m->e = NULL; m->mask = m->used = 0; }
#endif
