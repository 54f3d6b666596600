// SPDX-License-Identifier: BSD-3-Clause

package simulate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
)

// writeCSV writes a row for each run and a column for each figure of its JSON, by its name there; one
// below another has both names with a point. Of a list it has how many there are.
func writeCSV[R any](out io.Writer, runs []R, object func(R) any) error {
	var names []string
	column := make(map[string]int)
	var rows [][]string
	for _, r := range runs {
		text, err := json.Marshal(object(r))
		if err != nil {
			return err
		}
		row := make([]string, len(names))
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		err = flatten(d, "", func(name, value string) {
			i, known := column[name]
			if !known {
				i = len(names)
				column[name], names, row = i, append(names, name), append(row, "")
			}
			row[i] = value
		})
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	c := csv.NewWriter(out)
	_ = c.Write(names) // Flush has the error
	for _, row := range rows {
		_ = c.Write(append(row, make([]string, len(names)-len(row))...))
	}
	c.Flush()
	return c.Error()
}

// flatten calls add for each value of what comes next, by its name, in their order.
func flatten(d *json.Decoder, name string, add func(name, value string)) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return err
			}
			below := fmt.Sprint(key)
			if name != "" {
				below = name + "." + below
			}
			if err := flatten(d, below, add); err != nil {
				return err
			}
		}
		_, err = d.Token()
	case json.Delim('['):
		n := 0
		for ; d.More() && err == nil; n++ {
			err = flatten(d, name, func(string, string) {})
		}
		if err == nil {
			_, err = d.Token()
		}
		add(name, fmt.Sprint(n))
	default:
		add(name, fmt.Sprint(token))
	}
	return err
}
