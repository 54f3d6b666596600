//go:build !race

// Package race says whether the race detector is built in. It makes some code
// allocate that does not otherwise.
package race

// Enabled is true under the race detector.
const Enabled = false
