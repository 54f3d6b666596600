//go:build race

package locality

const raceDetector = true
