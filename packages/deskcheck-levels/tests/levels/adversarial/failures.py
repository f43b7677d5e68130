# call: f([1, 0, 'a', None, 2])
def f(a):
    out = []
    for v in a:
        try:
            out.append(10 // v)
        except ZeroDivisionError:
            out.append('zero')
            continue
        except TypeError:
            out.append('type')
            if v is None:
                break
        else:
            out.append('fine')
        finally:
            out.append('f')
    else:
        out.append('end')
    return out

# call: f(1)
def f(n):
    try:
        return 'try'
    finally:
        return 'finally'

# call: f(3)
def f(n):
    for i in range(n):
        try:
            continue
        finally:
            if i == 1:
                break
    return i

# call: f(3)
def f(n):
    out = []
    while True:
        try:
            n -= 1
            if n < 0:
                raise ValueError(n)
            out.append(n)
        except ValueError as e:
            out.append(e.args)
            break
        finally:
            out.append('x')
    return out

# call: f({})
def f(d):
    try:
        try:
            d['x']
        except KeyError as e:
            raise ValueError('inner') from e
    except ValueError as e:
        c = e.__cause__ if False else None
        return str(e), c

# call: f(0)
def f(n):
    try:
        try:
            1 // n
        finally:
            [][1]
    except IndexError as e:
        return str(e)

# call: f(0)
def f(n):
    try:
        1 // n
    except ZeroDivisionError:
        try:
            {}['k']
        except KeyError:
            pass
        raise

# call: f('x')
def f(s):
    try:
        int(s)
    except (KeyError, ValueError) as e:
        message = str(e)
    try:
        e
    except NameError as err:
        return message, str(err)

# call: f(0)
def f(n):
    raise KeyError('gone')

# call: f(0)
def f(n):
    raise KeyError

# call: f(0)
def f(n):
    raise IndexError('a', 'b', n)

# call: f(2)
def f(n):
    if n == 0:
        raise RuntimeError(f'deep')
    try:
        f(n - 1)
    finally:
        n = 100
    return n

# call: f(4)
def f(n):
    log = []
    def g(k):
        log.append(k)
        try:
            if k == 0:
                raise StopIteration
            return g(k - 1) + 1
        except StopIteration:
            log.append('caught')
            return 0
        finally:
            log.append(-k)
    return g(n), log

# call: f([1, 2])
def f(a):
    out = []
    for kind in (IndexError, LookupError, Exception, (KeyError, IndexError)):
        try:
            a[5]
        except kind as e:
            out.append(isinstance(e, LookupError))
    return out

# call: f(0)
def f(n):
    try:
        n.missing
    except AttributeError as e:
        return str(e)

# call: f(3)
def f(n):
    try:
        n()
    except TypeError as e:
        a = str(e)
    try:
        n[0]
    except TypeError as e:
        b = str(e)
    try:
        for x in n:
            pass
    except TypeError as e:
        c = str(e)
    try:
        len(n)
    except TypeError as e:
        d = str(e)
    try:
        n[0] = 1
    except TypeError as e:
        g = str(e)
    try:
        3 in n
    except TypeError as e:
        h = str(e)
    return a, b, c, d, g, h

# call: f(1)
def f(n):
    try:
        raise n
    except TypeError as e:
        return str(e)

# call: f(1)
def f(n):
    try:
        try:
            raise ValueError('a')
        except KeyError:
            n = 'wrong'
        else:
            n = 'else'
        finally:
            n = (n, 'finally')
    except Exception as e:
        return n, str(e), repr(e)

# call: f(1)
def f(n):
    e = ValueError('x', n)
    try:
        raise e
    except ValueError as caught:
        same = caught is e
    return same, e.args, str(e), repr(e), str(ValueError()), repr(ValueError()), str(KeyError('k')), repr(KeyError('k'))

# call: f(5)
def f(n):
    def risky(k):
        if k % 2:
            raise ValueError(k)
        return k
    def safe(g, *args, default=None):
        try:
            return g(*args)
        except ValueError as e:
            return default if default is not None else e.args[0] * 10
    return [safe(risky, k) for k in range(n)], safe(risky, 3, default='d')

# call: f(3)
def f(n):
    try:
        g(n)
    except ValueError as e:
        return str(e)
def g(n):
    if n:
        g(n - 1)
    raise ValueError('unwound' + str(n))

# call: f(3)
def f(n):
    count = 0
    while True:
        try:
            try:
                count += 1
                if count < n:
                    raise ValueError
                raise KeyError(count)
            except ValueError:
                continue
        except KeyError as e:
            return count, e.args[0]

# call: f('12x4')
def f(s):
    total = bad = 0
    for c in s:
        try:
            total = total * 10 + int(c)
        except ValueError:
            bad += 1
    return total, bad

# call: f(1)
def f(n):
    try:
        assert n == 2, [n]
    except AssertionError as e:
        a = e.args
    try:
        assert n == 2
    except AssertionError as e:
        b = e.args, str(e)
    assert not n, (a, b)

# call: f([])
def f(a):
    try:
        return a.pop()
    except IndexError:
        return 'none'
    else:
        return 'else'
    finally:
        a.append('late')

# call: f([])
def f(a):
    def g():
        try:
            return a
        finally:
            a.append(1)
    def h():
        x = 1
        try:
            return x
        finally:
            x = 2
    return g(), h()

# call: f(0)
def f(n):
    try:
        raise ValueError('one')
    except ValueError as e:
        kept = e
    try:
        raise kept
    except Exception as e:
        return str(e), e is kept, isinstance(e, ValueError), isinstance(e, Exception)

# call: f(1)
# outside: arguments that do not fit f
def f(n):
    try:
        f(1, 2)
    except TypeError:
        return 'arguments'

# call: f(1)
def f(n):
    try:
        x = 'a' < 1
    except TypeError as e:
        return str(e)

# call: f(1)
def f(n):
    out = []
    for g in (lambda: [1] + 'a', lambda: 'a' + [1], lambda: 1 + 'a', lambda: {} + {}, lambda: [1] < 3, lambda: None > 1, lambda: (1,) + [1], lambda: [1] * 'a', lambda: {1} | [2]):
        try:
            g()
        except TypeError as e:
            out.append(str(e))
    return out

# call: f(10)
# outside: a yield inside try
def f(n):
    def gen():
        try:
            for i in range(n):
                yield i
                if i == 2:
                    raise ValueError('stop')
        finally:
            out.append('closed')
    out = []
    try:
        for v in gen():
            out.append(v)
    except ValueError as e:
        out.append(str(e))
    return out

# call: f(3)
def f(n):
    it = iter(range(n))
    out = []
    while True:
        try:
            out.append(next(it))
        except StopIteration:
            break
    return out

# call: f(1)
def f(n):
    try:
        try:
            raise KeyError(1)
        except KeyError:
            raise IndexError(2)
    except LookupError as e:
        return type(e) is IndexError, e.args

# call: f(2)
def f(n):
    for i in range(3):
        try:
            if i == n:
                return 'returned', i
        finally:
            n -= 0
    return 'not'

# call: f(2)
def f(n):
    try:
        return [1, 2, 3][n + 5]
    except:
        return 'bare'
