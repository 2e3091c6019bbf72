//go:build !gloom_gcstress

package gloom

// stress: collect garbage at every call. For the tests of this package (build tag gloom_gcstress).
const stress = false
