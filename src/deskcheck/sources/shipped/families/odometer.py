def odometer(n):
    wheels = [0]
    for _ in range(n):
        i = 0
        while i < len(wheels) and wheels[i] == 9:
            wheels[i] = 0
            i += 1
        if i == len(wheels):
            wheels.append(1)
        else:
            wheels[i] += 1
    return wheels


# ----
def tick(digits):
    for k in range(len(digits)):
        digits[k] = digits[k] + 1
        if digits[k] < 10:
            return
        digits[k] = 0
    digits.append(1)


def count(times):
    digits = [0]
    while times > 0:
        tick(digits)
        times = times - 1
    return digits


# ----
def meter(limit):
    places = [0]
    done = 0
    while done < limit:
        carry = 1
        for p in range(len(places)):
            total = places[p] + carry
            places[p] = total % 10
            carry = total // 10
            if not carry:
                break
        if carry:
            places.append(carry)
        done += 1
    return places


# ----
def roll(n):
    ring = [0]
    while n:
        n -= 1
        position = 0
        while True:
            if position == len(ring):
                ring.append(1)
                break
            if ring[position] == 9:
                ring[position] = 0
                position += 1
            else:
                ring[position] = ring[position] + 1
                break
    return ring
