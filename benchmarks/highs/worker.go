// SPDX-License-Identifier: BSD-3-Clause

package highs

import (
	"io"
	"os"
)

// Worker is the main of a worker process: it reads a model from stdin, solves it,
// and writes what it finds to stdout. stdin has to stay open meanwhile: when it is
// a file and ends, the caller is gone, and the process exits. HiGHS keeps
// to one thread. A process calls it once.
//
// Where stdin is a file, the process is a worker and nothing else, and is confined first, on Linux:
// no core, no root (it becomes nobody), no more memory than [Options.Memory], and the first to go
// when the machine has none left.
func Worker(stdin io.Reader, stdout io.Writer) error {
	f, own := stdin.(*os.File)
	if own {
		confine()
	}
	if _, err := io.WriteString(stdout, answerMagic); err != nil {
		return err
	}
	q, err := readRequest(stdin)
	if err == nil {
		if own {
			go exitAtEnd(f)
		}
		err = solve(q, func(f frame) error { return writeFrame(stdout, f) })
	}
	if err != nil {
		_ = writeFrame(stdout, frame{kind: kindEnd, end: endFrame{Verdict: verdictFailed}, message: err.Error()})
	}
	return err
}

func exitAtEnd(f *os.File) {
	_, _ = io.Copy(io.Discard, f)
	os.Exit(1)
}
