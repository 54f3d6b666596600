//go:build !race

package locality

const raceDetector = false
