// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package main

import (
	"os"
	"time"
)

// peakBytes is 0: other systems use other units, or do not tell.
func peakBytes(*os.ProcessState) int64 { return 0 }

// processorTime is not known there.
func processorTime() time.Duration { return 0 }
