// SPDX-License-Identifier: BSD-3-Clause

// Package inputs reads the input file that a job names in its comment, --comment=input=PATH:SIZE.
package inputs

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/aucsched/aucsched/internal/engine"
)

const mostShown = 200 // longer names are cut in a message

// Input is a file: what tells it apart, not 0, and its bytes.
type Input struct{ File, Bytes uint64 }

// Read reads the input that a comment names, the zero Input if it names none. An error has the words for
// the user.
func Read(comment string) (in Input, err error) {
	for part := range strings.SplitSeq(comment, ";") {
		name, ours := strings.CutPrefix(part, "input=")
		if !ours {
			continue
		}
		if in.File != 0 {
			err = errors.New("is a second input; name the largest one alone")
		} else {
			in, err = readFile(name)
		}
		if err != nil {
			return Input{}, fmt.Errorf("aucsched: --comment: input=%s: %w", name[:min(len(name), mostShown)], err)
		}
	}
	return in, nil
}

// readFile reads PATH:SIZE. The path is the same file for all who name it, wherever they are.
func readFile(text string) (in Input, err error) {
	at := strings.LastIndexByte(text, ':')
	switch path := text[:max(at, 0)]; {
	case at < 0:
		return in, errors.New("must be PATH:SIZE")
	case !strings.HasPrefix(path, "/") && strings.Index(path, "://") < 1:
		return in, errors.New("its path must begin with / or be a URL")
	case !readSize(text[at+1:], &in.Bytes):
		return in, errors.New("its size must be a number of bytes above 0, or with K, M, G or T")
	default:
		hash := fnv.New64a() // as in files that are saved
		_, _ = hash.Write([]byte(path))
		in.File = max(hash.Sum64(), 1)
		return in, nil
	}
}

// readSize reads NUMBER, or NUMBER and K, M, G or T, the powers of 1024.
func readSize(text string, bytes *uint64) bool {
	shift := 0
	if n := len(text); n > 0 {
		if unit := strings.IndexByte("KMGT", text[n-1]&^0x20); unit >= 0 {
			shift, text = 10*(unit+1), text[:n-1]
		}
	}
	n, err := strconv.ParseUint(text, 10, 64)
	*bytes = n << shift
	return err == nil && n > 0 && n <= engine.MaxFile>>shift
}
