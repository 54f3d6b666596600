// SPDX-License-Identifier: BSD-3-Clause

package mpsread

import (
	"errors"
	"math/big"
)

// decimal is the exact number mant x 10^exp, or wide x 10^exp where the digits do
// not fit an int64. It has no trailing zeros, and zero has exponent 0.
type decimal struct {
	mant int64
	exp  int32
	wide *big.Int
}

const (
	maxDigits   = 800 // significant digits of a number in a file
	maxExponent = 400 // its magnitude lies within 10^-maxExponent .. 10^maxExponent
	smallDigits = 18  // so many digits always fit an int64
	// saturated stands for every integer at least as great, and its negative
	// for every one at most as small. Twice it still fits an int64.
	saturated = int64(1) << 61
)

var (
	errNotNumber = errors.New("not a number")
	errTooLong   = errors.New("more than 800 significant digits")
	errExponent  = errors.New("magnitude outside 1e-400 to 1e400")
)

// parseDecimal reads [+-]digits[.digits][e[+-]digits] without rounding. As in Fortran, d may stand
// for e.
func parseDecimal(s []byte) (decimal, error) {
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	var mant int64
	var wide []byte
	digits, zeros, exp, i := 0, 0, 0, 0 // zeros: those seen but not yet known to be inner ones
	point, any := false, false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		any = true
		if point {
			exp--
		}
		if c == '0' {
			if digits > 0 {
				zeros++
			}
			continue
		}
		if digits+zeros+1 > maxDigits {
			return decimal{}, errTooLong
		}
		if wide == nil && digits+zeros+1 > smallDigits {
			wide = []byte(big.NewInt(mant).String())
		}
		for ; zeros >= 0; zeros-- {
			d := c - '0'
			if zeros > 0 {
				d = 0
			}
			if wide != nil {
				wide = append(wide, '0'+d)
			} else {
				mant = mant*10 + int64(d)
			}
			digits++
		}
		zeros = 0
	}
	if !any {
		return decimal{}, errNotNumber
	}
	e, err := parseExponent(s[i:])
	if err != nil {
		return decimal{}, err
	}
	if digits == 0 {
		return decimal{}, nil
	}
	exp += zeros + e
	if exp < -maxExponent || exp+digits > maxExponent {
		return decimal{}, errExponent
	}
	d := decimal{mant: mant, exp: int32(exp)}
	if wide != nil {
		d.mant = 0
		d.wide, _ = new(big.Int).SetString(string(wide), 10)
	}
	if neg {
		d = d.negate()
	}
	return d, nil
}

func parseExponent(s []byte) (int, error) {
	if len(s) == 0 {
		return 0, nil
	}
	if c := s[0] | 0x20; c != 'e' && c != 'd' {
		return 0, errNotNumber
	}
	s = s[1:]
	neg := false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	if len(s) == 0 {
		return 0, errNotNumber
	}
	e := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, errNotNumber
		}
		// A long mantissa may make up for a large exponent, but not for more than this.
		e = min(e*10+int(c-'0'), 1<<24)
	}
	if neg {
		e = -e
	}
	return e, nil
}

func (d decimal) negate() decimal {
	if d.wide != nil {
		d.wide = new(big.Int).Neg(d.wide)
	}
	d.mant = -d.mant
	return d
}

func (d decimal) sign() int {
	switch {
	case d.wide != nil:
		return d.wide.Sign()
	case d.mant > 0:
		return 1
	case d.mant < 0:
		return -1
	}
	return 0
}

func (d decimal) digits() *big.Int {
	if d.wide != nil {
		return d.wide
	}
	return big.NewInt(d.mant)
}

func pow10(n int32) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// rat is the number as a fraction.
func (d decimal) rat() *big.Rat { return scaleRat(new(big.Rat).SetInt(d.digits()), d.exp) }

// scaleRat multiplies r by 10^e in place.
func scaleRat(r *big.Rat, e int32) *big.Rat {
	if e < 0 {
		return r.Quo(r, new(big.Rat).SetInt(pow10(-e)))
	}
	return r.Mul(r, new(big.Rat).SetInt(pow10(e)))
}

// bigAt is the number in units of 10^e, which must divide it.
func (d decimal) bigAt(e int32) *big.Int {
	if d.sign() == 0 {
		return new(big.Int)
	}
	return new(big.Int).Mul(d.digits(), pow10(d.exp-e))
}

// smallAt is the number in units of 10^e, which must divide it; ok is false
// unless the magnitude is at most limit.
func (d decimal) smallAt(e int32, limit int64) (v int64, ok bool) {
	if d.wide != nil {
		return 0, false
	}
	v = d.mant
	for n := d.exp - e; n > 0 && v != 0; n-- {
		if v > limit/10 || v < -limit/10 {
			return 0, false
		}
		v *= 10
	}
	return v, -limit <= v && v <= limit
}

// floorAt is the greatest integer at most as great as the number in units of
// 10^e; magnitudes beyond saturated are cut to it.
func (d decimal) floorAt(e int32) int64 {
	if d.exp >= e {
		if v, ok := d.smallAt(e, saturated); ok {
			return v
		}
	}
	r := scaleRat(d.rat(), -e)
	q := new(big.Int)
	q.DivMod(r.Num(), r.Denom(), new(big.Int)) // Euclidean, and the divisor is positive: floor
	switch {
	case q.Cmp(big.NewInt(saturated)) > 0:
		return saturated
	case q.Cmp(big.NewInt(-saturated)) < 0:
		return -saturated
	}
	return q.Int64()
}

func (d decimal) ceilAt(e int32) int64 { return -d.negate().floorAt(e) }

// plus adds exactly.
func (d decimal) plus(x decimal) decimal {
	switch {
	case d.sign() == 0:
		return x
	case x.sign() == 0:
		return d
	}
	e := min(d.exp, x.exp)
	sum := new(big.Int).Add(d.bigAt(e), x.bigAt(e))
	if sum.Sign() == 0 {
		return decimal{}
	}
	ten, rest := big.NewInt(10), new(big.Int)
	for {
		q, r := new(big.Int).QuoRem(sum, ten, rest)
		if r.Sign() != 0 {
			break
		}
		sum = q
		e++
	}
	if sum.IsInt64() {
		return decimal{mant: sum.Int64(), exp: e}
	}
	return decimal{wide: sum, exp: e}
}

func (d decimal) abs() decimal {
	if d.sign() < 0 {
		return d.negate()
	}
	return d
}

// compare is -1, 0 or 1 as d is less than, equal to or greater than x.
func (d decimal) compare(x decimal) int { return d.plus(x.negate()).sign() }
