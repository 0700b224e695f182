"""Rows between two surfaces as weighted sums of gaps at quadrature points (mortar rows).

Row j belongs to a node of the surface that carries the points (the slave), with a hat function φ_j:

    δ_j = Σ_q s_jq g_q        s_jq = w_q φ_j(x_q) / Σ_q w_q φ_j(x_q)        g_q = n_q · (x_q − y_q)

over the points x_q that have a partner y_q on the other surface (the master). λ_j is a force [N], and λ_j = p
Σ_q w_q φ_j is a uniform pressure p on just the area that touches.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant.algebra.jit import in_place
from pliant.contact.detect.gather import tangent_frames

OVERHANG = 0.02  # reference coordinate by which a foot may lie beside its facet
FOUND = 1e-12  # reference coordinate by which a foot still moves when it is found
FEET = 8  # Newton iterations that find a foot on a curved facet


@in_place
def _power(x, exponent):
    """x to the power of 0, 1 or 2."""
    if exponent == 0:
        return 1.0
    return x if exponent == 1 else x * x


@in_place
def _polynomials(u, v, exponents, coefficients, N, D):
    """Shape functions N (nn,) at (u, v), and their derivatives D (nn, 2)."""
    nn = len(N)
    if nn == 3:
        N[0], N[1], N[2] = 1.0 - u - v, u, v
        D[0, 0], D[1, 0], D[2, 0] = -1.0, 1.0, 0.0
        D[0, 1], D[1, 1], D[2, 1] = -1.0, 0.0, 1.0
        return
    if nn == 4:
        l, r, d, t = 0.5 - 0.5 * u, 0.5 + 0.5 * u, 0.5 - 0.5 * v, 0.5 + 0.5 * v
        N[0], N[1], N[2], N[3] = l * d, r * d, r * t, l * t
        D[0, 0], D[1, 0], D[2, 0], D[3, 0] = -0.5 * d, 0.5 * d, 0.5 * t, -0.5 * t
        D[0, 1], D[1, 1], D[2, 1], D[3, 1] = -0.5 * l, -0.5 * r, 0.5 * r, 0.5 * l
        return
    if nn == 6:
        w = 1.0 - u - v
        N[0], N[1], N[2] = w * (2.0 * w - 1.0), u * (2.0 * u - 1.0), v * (2.0 * v - 1.0)
        N[3], N[4], N[5] = 4.0 * w * u, 4.0 * u * v, 4.0 * v * w
        D[0, 0], D[1, 0], D[2, 0] = 1.0 - 4.0 * w, 4.0 * u - 1.0, 0.0
        D[3, 0], D[4, 0], D[5, 0] = 4.0 * (w - u), 4.0 * v, -4.0 * v
        D[0, 1], D[1, 1], D[2, 1] = 1.0 - 4.0 * w, 0.0, 4.0 * v - 1.0
        D[3, 1], D[4, 1], D[5, 1] = -4.0 * u, 4.0 * u, 4.0 * (w - v)
        return
    for a in range(nn):
        N[a], D[a, 0], D[a, 1] = 0.0, 0.0, 0.0
    for m in range(nn):
        e, f = exponents[m, 0], exponents[m, 1]
        ue, vf = _power(u, e), _power(v, f)
        du = e * _power(u, e - 1) * vf if e > 0 else 0.0
        dv = f * _power(v, f - 1) * ue if f > 0 else 0.0
        for a in range(nn):
            c = coefficients[m, a]
            N[a] += c * ue * vf
            D[a, 0] += c * du
            D[a, 1] += c * dv


@in_place
def _surface(X, nodes, N, D, y, J):
    """The point y (3,) of a facet and its tangents J (2, 3)."""
    for c in range(3):
        y[c], J[0, c], J[1, c] = 0.0, 0.0, 0.0
        for a in range(len(nodes)):
            x = X[nodes[a], c]
            y[c] += N[a] * x
            J[0, c] += D[a, 0] * x
            J[1, c] += D[a, 1] * x


@in_place
def _inside(u, v, triangular):
    """Whether reference coordinates lie on the facet, or hardly beside it."""
    if triangular:
        return u >= -OVERHANG and v >= -OVERHANG and u + v <= 1.0 + OVERHANG
    return abs(u) <= 1.0 + OVERHANG and abs(v) <= 1.0 + OVERHANG


@in_place
def _edge(u, v, triangular):
    """The edge that (u, v) is farthest beyond: its start, its direction, and the place of (u, v) on it."""
    if triangular:
        if u + v - 1.0 >= max(-u, -v):
            return 1.0, 0.0, -1.0, 1.0, 0.5 * (v - u + 1.0)
        return (0.0, 0.0, 1.0, 0.0, u) if v <= u else (0.0, 0.0, 0.0, 1.0, v)
    if abs(u) >= abs(v):
        return np.sign(u), -1.0, 0.0, 2.0, 0.5 * (v + 1.0)
    return -1.0, np.sign(v), 2.0, 0.0, 0.5 * (u + 1.0)


@in_place
def _foot_on_edge(x, X, nodes, exponents, coefficients, u, v, N, D, y, J):
    """The point y of the edge beside (u, v) that is nearest to x, with N, D and J there."""
    u0, v0, du, dv, s = _edge(u, v, len(N) == 3 or len(N) == 6)
    s = min(max(s, 0.0), 1.0)
    for _ in range(FEET):
        _polynomials(u0 + s * du, v0 + s * dv, exponents, coefficients, N, D)
        _surface(X, nodes, N, D, y, J)
        along, square = 0.0, 0.0
        for c in range(3):
            t = du * J[0, c] + dv * J[1, c]
            along += t * (x[c] - y[c])
            square += t * t
        last, s = s, min(max(s + along / square, 0.0), 1.0)
        if abs(s - last) <= FOUND:
            break


@in_place
def _foot(x, X, nodes, exponents, coefficients, u, v, N, D, y, J):
    """The point y of a facet nearest to x, from (u, v) on; whether it lies over the facet, not on an edge."""
    triangular = len(N) == 3 or len(N) == 6
    _polynomials(u, v, exponents, coefficients, N, D)
    _surface(X, nodes, N, D, y, J)
    for _ in range(FEET):
        a11, a12, a22, b1, b2 = 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(3):
            d = x[c] - y[c]
            if len(N) == 4:  # the facet's twist ∂²y/∂u∂v
                a12 -= 0.25 * d * (X[nodes[0], c] - X[nodes[1], c] + X[nodes[2], c] - X[nodes[3], c])
            a11 += J[0, c] * J[0, c]
            a12 += J[0, c] * J[1, c]
            a22 += J[1, c] * J[1, c]
            b1 += J[0, c] * d
            b2 += J[1, c] * d
        det = a11 * a22 - a12 * a12
        du, dv = (a22 * b1 - a12 * b2) / det, (a11 * b2 - a12 * b1) / det
        if not (abs(du) + abs(dv) > FOUND):
            break
        u, v = u + du, v + dv
        if not _inside(u, v, triangular):
            _foot_on_edge(x, X, nodes, exponents, coefficients, u, v, N, D, y, J)
            return False
        _polynomials(u, v, exponents, coefficients, N, D)
        _surface(X, nodes, N, D, y, J)
    return True


@njit(cache=True, error_model="numpy")
def feet(
    which, p, triangle, weights, before, X, nodes, part, corner, exponents, coefficients,
    gap, normal, N, slope,
):  # fmt: skip
    """Shape functions N (n, nn) of the facets at the points nearest to p[which], and their gradients.

    triangle and weights say what is nearest on straight triangles; gap and normal, by point, become those of
    the curved facets. before, by point: a triangle of the facet that it was over, or −1; it keeps that while
    it is over it, as points on an edge would go to and fro between two facets, and `triangle` says so. slope
    (n, nn, 3) [1/m] is ∂N/∂y along the facet, zero where an edge is touched.
    """
    nn = nodes.shape[1]
    _feet(
        which, p, triangle, weights, before, X, nodes, part, corner, exponents, coefficients,
        gap, normal, N, slope, np.empty(3), np.empty((2, 3)), np.empty((nn, 2)),
    )  # fmt: skip


@in_place
def _feet(
    which, p, triangle, weights, before, X, nodes, part, corner, exponents, coefficients,
    gap, normal, N, slope, y, J, D,
):  # fmt: skip
    """As `feet`, with room for y (3,), J (2, 3) and D (nn, 2)."""
    middle = 1.0 / 3.0 if len(D) == 3 or len(D) == 6 else 0.0
    for i in range(len(which)):
        s = which[i]
        t, o, over = triangle[s], before[s], False
        if o >= 0 and (
            nodes[o, 0] != nodes[t, 0] or nodes[o, 1] != nodes[t, 1] or nodes[o, 2] != nodes[t, 2]
        ):
            over = _foot(p[s], X, nodes[o], exponents, coefficients, middle, middle, N[i], D, y, J)
            if over:
                triangle[s] = o
        if not over:
            u, v = 0.0, 0.0
            for a in range(3):
                u += weights[s, a] * corner[part[t], a, 0]
                v += weights[s, a] * corner[part[t], a, 1]
            over = _foot(p[s], X, nodes[t], exponents, coefficients, u, v, N[i], D, y, J)
        _measure(p[s], y, J, over, D, gap, normal, s, slope[i])


@in_place
def _measure(x, y, J, over, D, gap, normal, s, slope):
    """Gap and normal of a point x with foot y, over a facet or beside it, and the gradients of N."""
    dx, dy, dz = x[0] - y[0], x[1] - y[1], x[2] - y[2]
    if not over:
        side = 1.0 if dx * normal[s, 0] + dy * normal[s, 1] + dz * normal[s, 2] >= 0.0 else -1.0
        d = np.sqrt(dx * dx + dy * dy + dz * dz)
        if d > 1e-3 * abs(gap[s]) and d > 0.0:
            normal[s, 0], normal[s, 1], normal[s, 2] = side * dx / d, side * dy / d, side * dz / d
        gap[s] = side * d
        slope[:] = 0.0
        return
    nx = J[0, 1] * J[1, 2] - J[0, 2] * J[1, 1]
    ny = J[0, 2] * J[1, 0] - J[0, 0] * J[1, 2]
    nz = J[0, 0] * J[1, 1] - J[0, 1] * J[1, 0]
    square = nx * nx + ny * ny + nz * nz
    length = np.sqrt(square)
    normal[s, 0], normal[s, 1], normal[s, 2] = nx / length, ny / length, nz / length
    gap[s] = (dx * nx + dy * ny + dz * nz) / length
    # ∂ξ/∂y: across each tangent of the facet lies the direction in which the other coordinate is constant
    ax, ay, az = J[1, 1] * nz - J[1, 2] * ny, J[1, 2] * nx - J[1, 0] * nz, J[1, 0] * ny - J[1, 1] * nx
    bx, by, bz = ny * J[0, 2] - nz * J[0, 1], nz * J[0, 0] - nx * J[0, 2], nx * J[0, 1] - ny * J[0, 0]
    for a in range(len(D)):
        slope[a, 0] = (D[a, 0] * ax + D[a, 1] * bx) / square
        slope[a, 1] = (D[a, 0] * ay + D[a, 1] * by) / square
        slope[a, 2] = (D[a, 0] * az + D[a, 1] * bz) / square


@njit(error_model="numpy")
def _shared_out(which, G, triangles, home, area, share, weights):
    """Samples (m,), places (m,) in `which` and areas (m,) [m²] of the shares that points have in rows."""
    most, n = 6 * len(which), 0
    owner, point, amount = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most)
    for i in range(len(which)):
        t, g = which[i] // G, which[i] % G
        for a in range(3):
            node = triangles[t, a]
            homes = 1 if home[node, 0] == home[node, 1] else 2
            for h in range(homes):
                owner[n], point[n] = home[node, h], i
                amount[n] = area[t] * share[g] * weights[g, a] / homes
                n += 1
    return owner[:n], point[:n], amount[:n]


@njit(cache=True, error_model="numpy")
def mortar_rows(
    which, p, area, gap, normal,  # points that have a partner
    triangles, nodes, part, shape, weights, share, home, slave_point,  # the slave
    triangle, master_nodes, N, gradient, master_point, mobile, samples, reach,  # the master
):  # fmt: skip
    """Rows with a gap below reach: samples (n,), gaps, normals, centres (n, 3), tangents; and their stencils.

    home (k, 2): the samples that the hat function of a slave node belongs to, half each. Entries of the
    stencil: point, weight, pull (·, 3) = Σ s N n, and slope (·, 2), Σ s ∂N/∂y of the master's nodes along the
    tangents.
    """
    G, ns, nm = len(share), nodes.shape[1], master_nodes.shape[1]
    owner, of_point, amount = _shared_out(which, G, triangles, home, area, share, weights)
    total, count = np.zeros(samples), np.zeros(samples, np.int64)
    for k in range(len(owner)):
        total[owner[k]] += amount[k]
        count[owner[k]] += 1
    row_of, n = np.full(samples, -1), 0
    for r in range(samples):
        if total[r] > 0.0:
            row_of[r] = n
            n += 1
    sample, first = np.empty(n, np.int64), np.zeros(n + 1, np.int64)
    for r in range(samples):
        if row_of[r] >= 0:
            sample[row_of[r]] = r
            first[row_of[r] + 1] = count[r]
    for r in range(n):
        first[r + 1] += first[r]
    item, part_of, fill = np.empty(first[n], np.int64), np.empty(first[n]), first[:-1].copy()
    for k in range(len(owner)):
        r = row_of[owner[k]]
        item[fill[r]], part_of[fill[r]] = of_point[k], amount[k] / total[owner[k]]
        fill[r] += 1
    delta, ahead, centre = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3))
    most = first[n] * (ns + nm)
    ptr, point, weight = np.zeros(n + 1, np.int64), np.empty(most, np.int64), np.empty(most)
    pull, turn = np.empty((most, 3)), np.empty((most, 3))
    place, e, kept = np.full(len(mobile), -1), 0, 0
    for r in range(n):
        start, moves = e, False
        delta[kept], ahead[kept], centre[kept], sample[kept] = 0.0, 0.0, 0.0, sample[r]
        for k in range(first[r], first[r + 1]):
            i, s = item[k], part_of[k]
            q = which[i]
            t, g, m = q // G, q % G, triangle[q]
            delta[kept] += s * gap[q]
            for c in range(3):
                ahead[kept, c] += s * normal[q, c]
                centre[kept, c] += s * p[q, c]
            for b in range(ns + nm):
                if b < ns:
                    x, w = slave_point[nodes[t, b]], s * shape[part[t], g, b]
                else:
                    x, w = master_point[master_nodes[m, b - ns]], -s * N[i, b - ns]
                if w == 0.0:
                    continue
                f = place[x]
                if f < start:
                    f = place[x] = e
                    point[f], weight[f] = x, 0.0
                    pull[f], turn[f] = 0.0, 0.0
                    moves = moves or mobile[x]
                    e += 1
                weight[f] += w
                for c in range(3):
                    pull[f, c] += w * normal[q, c]
                    if b >= ns:
                        turn[f, c] += s * gradient[i, b - ns, c]
        if not moves or delta[kept] >= reach:
            for f in range(start, e):
                place[point[f]] = -1
            e = start
            continue
        length = np.sqrt(ahead[kept, 0] ** 2 + ahead[kept, 1] ** 2 + ahead[kept, 2] ** 2)
        for c in range(3):
            ahead[kept, c] = ahead[kept, c] / length if length > 0.0 else normal[which[item[first[r]]], c]
        kept += 1
        ptr[kept] = e
    tangents, slope = tangent_frames(ahead[:kept]), np.zeros((e, 2))
    for r in range(kept):
        for f in range(ptr[r], ptr[r + 1]):
            for a in range(2):
                for c in range(3):
                    slope[f, a] += turn[f, c] * tangents[r, a, c]
    rows = sample[:kept].copy(), delta[:kept].copy(), ahead[:kept].copy(), centre[:kept].copy(), tangents
    return rows, (ptr[: kept + 1].copy(), point[:e].copy(), weight[:e].copy(), pull[:e].copy(), slope)
