// SPDX-License-Identifier: BSD-3-Clause

//go:build !unix

package link

import (
	"errors"
	"os"
)

func LockFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }
