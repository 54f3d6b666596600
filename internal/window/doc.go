// SPDX-License-Identifier: BSD-3-Clause

// Package window reads the state of a machine and its queue from JSON, and writes what a cycle
// decided: the formats of "aucsched plan". docs/reference/window.md says what a window has, and
// docs/schemas what the fields of outcomes and explanations mean.
package window
