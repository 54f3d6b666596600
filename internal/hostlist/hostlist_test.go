// SPDX-License-Identifier: BSD-3-Clause

package hostlist

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"n1", "n1"},
		{"n[1-3,007-009],gpu5,rack[1-2]n[1-4]", "n1 n2 n3 n007 n008 n009 gpu5 " +
			"rack1n1 rack1n2 rack1n3 rack1n4 rack2n1 rack2n2 rack2n3 rack2n4"},
		{"n[8-11]", "n8 n9 n10 n11"},
		{"n[08-11]", "n08 n09 n10 n11"},
		{"n[1-010]", "n1 n2 n3 n4 n5 n6 n7 n8 n9 n10"},
		{"n[098-101]", "n098 n099 n100 n101"},
		{"[1-2]", "1 2"},
		{"a[1-2]-ib,b", "a1-ib a2-ib b"},
		{"n[3,1,1]", "n3 n1 n1"},
		{"n[0-0]", "n0"},
		{"n1,", "n1"},
		{",n1,,n2 ,", "n1 n2"},
		{"a1, a2\tb[1-2]\n", "a1 a2 b1 b2"},
		{" a[1,3] ", "a1 a3"},
		{"n[00]", "n00"},
		{"n[999999999999999998-999999999999999999]", "n999999999999999998 n999999999999999999"},
	} {
		got, err := Expand(c.expr)
		require.NoError(t, err, c.expr)
		require.Equal(t, strings.Fields(c.want), got, c.expr)
		n, err := Count(c.expr)
		require.NoError(t, err)
		require.Len(t, got, n)
	}
}

func TestExpandErrors(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, c := range []struct{ expr, want string }{
		{"", `hostlist "": no name`},
		{" ,\t", `hostlist " ,\t": no name`},
		{"n[3-1]", `hostlist "n[3-1]": range 3-1 is empty`},
		{"n[1-2", `hostlist "n[1-2": a [ without ]`},
		{"n1]", `hostlist "n1]": ']' is not allowed in a name`},
		{"n[1[2]]", `hostlist "n[1[2]]": "1[2" in brackets is neither a number nor a range of numbers`},
		{"n[]", `hostlist "n[]": "" in brackets is neither a number nor a range of numbers`},
		{"n[1,]", `hostlist "n[1,]": "" in brackets is neither a number nor a range of numbers`},
		{"n[-1]", `hostlist "n[-1]": "-1" in brackets is neither a number nor a range of numbers`},
		{"n[+1]", `hostlist "n[+1]": "+1" in brackets is neither a number nor a range of numbers`},
		{"n[1-]", `hostlist "n[1-]": "1-" in brackets is neither a number nor a range of numbers`},
		{"n[1-2-3]", `hostlist "n[1-2-3]": "1-2-3" in brackets is neither a number nor a range of numbers`},
		{"n[a-b]", `hostlist "n[a-b]": "a-b" in brackets is neither a number nor a range of numbers`},
		{"n[1, 2]", `hostlist "n[1, 2]": " 2" in brackets is neither a number nor a range of numbers`},
		{"n\r", `hostlist "n\r": '\r' is not allowed in a name`},
		{"n\xff", `hostlist "n\xff": '�' is not allowed in a name`},
		{"n[0-16777216]", `hostlist "n[0-16777216]": more than 16777216 names`},
		{"a[1-9999]b[1-9999]c[1-9999]d[1-9999]e[1-9999]f[1-9999]g[1-9999]",
			`hostlist "a[1-9999]b[1-9999]c[1-9999]d[1-9999]e[1-9999]f[1-9999]g[1-99...": more than 16777216 names`},
		{"n[0-9999999,0-9999999]", `hostlist "n[0-9999999,0-9999999]": more than 16777216 names`},
		{"n[1-9999999],m[1-9999999]", `hostlist "n[1-9999999],m[1-9999999]": more than 16777216 names`},
		{"n[0-999999999999999999]", `hostlist "n[0-999999999999999999]": more than 16777216 names`},
		{"n[0000000000000000001]", `hostlist "n[0000000000000000001]": a number of more than 18 digits in brackets`},
		{long + long, `hostlist "` + long[:60] + `...": a name of more than 255 bytes`},
		{strings.Repeat("[1]", 256), `hostlist "` + strings.Repeat("[1]", 20) + `...": a name of more than 255 bytes`},
	} {
		_, err := Expand(c.expr)
		require.EqualError(t, err, c.want)
		_, err = Count(c.expr)
		require.EqualError(t, err, c.want)
	}
}

func TestCompress(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"", ""},
		{"n1", "n1"},
		{"n1 n2 n3 n5", "n[1-3,5]"},
		{"n9 n10", "n[9-10]"},
		{"n09 n10", "n[09-10]"},
		{"n9 n010", "n[9,010]"},
		{"n99 n0100", "n[99,0100]"},
		{"n1 n2 n007 n008 m1 n3", "n[1-2,007-008],m1,n3"},
		{"n3 n2 n2", "n[3,2,2]"},
		{"rack1n1 rack1n2 rack2n1", "rack1n[1-2],rack2n1"},
		{"login n1-ib n2-ib", "login,n1-ib,n2-ib"},
		{"1 2", "[1-2]"},
		{"n1 login login n2", "n1,login,login,n2"},
		{"n1234567890123456789 n1234567890123456790", "n1234567890123456789,n1234567890123456790"},
	} {
		got, err := Compress(strings.Fields(c.names))
		require.NoError(t, err)
		require.Equal(t, c.want, got)
	}
}

func TestCompressErrors(t *testing.T) {
	for _, c := range []struct {
		name, want string
	}{
		{"", `hostlist: name 2, "": empty`},
		{"a,b", `hostlist: name 2, "a,b": ',' is not allowed in a name`},
		{"n[1]", `hostlist: name 2, "n[1]": '[' is not allowed in a name`},
		{strings.Repeat("9", 256), `hostlist: name 2, "` + strings.Repeat("9", 60) + `...": longer than 255 bytes`},
	} {
		_, err := Compress([]string{"ok", c.name})
		require.EqualError(t, err, c.want)
	}
}

// TestPropertyInverse: Expand(Compress(names)) == names.
func TestPropertyInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.StringMatching(`(n|rack[12]n|gpu|x-)?[0-9]{1,4}(-ib)?|login`), 1, 40).Draw(t, "names")
		expr, err := Compress(names)
		require.NoError(t, err)
		got, err := Expand(expr)
		require.NoError(t, err, expr)
		require.Equal(t, names, got, expr)
	})
}

// TestPropertyTwin: Expand gives what fmt gives for a list of ranges.
func TestPropertyTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var elems, want []string
		for range rapid.IntRange(1, 4).Draw(t, "elements") {
			lo := rapid.IntRange(0, 120).Draw(t, "lo")
			hi := lo + rapid.IntRange(0, 30).Draw(t, "more")
			low := fmt.Sprintf("%0*d", rapid.IntRange(1, 5).Draw(t, "width"), lo)
			racks := rapid.IntRange(1, 3).Draw(t, "racks")
			elems = append(elems, fmt.Sprintf("r[1-%d]n[%s-%d]", racks, low, hi))
			for r := 1; r <= racks; r++ {
				for n := lo; n <= hi; n++ {
					want = append(want, fmt.Sprintf("r%dn%0*d", r, len(low), n))
				}
			}
		}
		got, err := Expand(strings.Join(elems, ","))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func FuzzExpand(f *testing.F) {
	for _, s := range []string{"n[1-3,007-009],gpu5,rack[1-2]n[1-4]", "", "n[3-1]", "[[", "a[1]b[2]c", "n[0-99999999999]"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, expr string) {
		n, err := Count(expr)
		if err != nil || n > 1<<12 {
			return
		}
		names, err := Expand(expr)
		require.NoError(t, err)
		require.Len(t, names, n)
		short, err := Compress(names)
		require.NoError(t, err)
		again, err := Expand(short)
		require.NoError(t, err)
		require.Equal(t, names, again)
	})
}

func FuzzCompress(f *testing.F) {
	f.Add("n1 n2 n003")
	f.Add("a,b c")
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Split(text, " ")
		expr, err := Compress(names)
		if err != nil {
			return
		}
		again, err := Expand(expr)
		require.NoError(t, err)
		require.Equal(t, names, again)
	})
}

func ExampleExpand() {
	names, err := Expand("n[08-10],gpu5")
	fmt.Println(names, err)
	_, err = Expand("n[3-1]")
	fmt.Println(err)
	// Output:
	// [n08 n09 n10 gpu5] <nil>
	// hostlist "n[3-1]": range 3-1 is empty
}

func ExampleCompress() {
	expr, err := Compress([]string{"n1", "n2", "n3", "n5", "login"})
	fmt.Println(expr, err)
	// Output: n[1-3,5],login <nil>
}
