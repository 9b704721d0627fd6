package memstore_test

import (
	"testing"

	"github.com/nomen-project/nomen/store"
	"github.com/nomen-project/nomen/store/memstore"
	"github.com/nomen-project/nomen/store/storetest"
)

func open(*testing.T) store.Store { return memstore.New() }

func TestStore(t *testing.T) { storetest.Run(t, open) }

func TestSame(t *testing.T) { storetest.Same(t, open) }

func BenchmarkStore(b *testing.B) {
	storetest.Bench(b, func(*testing.B) store.Store { return memstore.New() })
}
