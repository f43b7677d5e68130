def count_primes(n):
    count = 0
    for k in range(2, n):
        prime = True
        d = 2
        while d * d <= k:
            if k % d == 0:
                prime = False
                break
            d += 1
        if prime:
            count += 1
    return count


# ----
def is_prime(number):
    divisor = 2
    while divisor * divisor <= number:
        if number % divisor == 0:
            return False
        divisor = divisor + 1
    return True


def primes_below(limit):
    found = 0
    for number in range(2, limit):
        if is_prime(number):
            found = found + 1
    return found


# ----
def how_many_primes(top):
    total = 0
    i = 2
    while i < top:
        j = 2
        while i % j != 0:
            j += 1
        if j == i:
            total += 1
        i += 1
    return total


# ----
def primes(n):
    total = 0
    for p in range(2, n):
        for q in range(2, p):
            if p % q == 0:
                break
        else:
            total += 1
    return total
