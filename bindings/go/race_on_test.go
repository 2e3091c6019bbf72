//go:build race

package gloom_test

const raceEnabled = true
