//go:build !linux

package highs

func confinedRoles() map[string]func() int { return nil }
