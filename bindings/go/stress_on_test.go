//go:build gloom_gcstress

package gloom_test

const stressed = true
