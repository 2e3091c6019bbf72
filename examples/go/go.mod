module example.org/gloom/examples/go

go 1.24.0

require example.org/gloom/bindings/go v0.0.0

require (
	github.com/klauspost/cpuid/v2 v2.2.10 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sys v0.30.0 // indirect
)

replace example.org/gloom/bindings/go => ../../bindings/go
