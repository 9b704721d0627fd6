package main

import "testing"

// TestShareCache checks how much memory the caches of a server get.
func TestShareCache(t *testing.T) {
	const mib = 1 << 20
	for _, tt := range []struct {
		limit, store                int64 // in MiB; store is the cache of the store without a cache of answers
		answers                     int64 // in MiB, -1 for the default
		wantAnswers, wantStoreCache int64
	}{
		{256, 64, -1, 16, 64},
		{576, 64, -1, 36, 64},
		{1024, 512, -1, 170, 405},
		{2560, 2048, -1, 682, 1525},
		{2560, 2048, 0, 0, 2048},
		{2560, 2048, 100, 100, 2048},
		{2560, 2048, 2000, 2000, 640},
		{2560, 100, 2000, 2000, 100},
	} {
		c := cli{memoryLimit: tt.limit * mib, cacheSize: tt.store * mib}
		f := serveFlags{answerCache: int(tt.answers)}
		answers := f.answerCacheSize(c.usualAnswerCache())
		c.shareCache(answers)
		if answers/mib != tt.wantAnswers || c.cacheSize/mib != tt.wantStoreCache {
			t.Errorf("limit %d, cache %d, --answer-cache %d: %d for answers, %d for the store, want %d and %d",
				tt.limit, tt.store, tt.answers, answers/mib, c.cacheSize/mib, tt.wantAnswers, tt.wantStoreCache)
		}
	}
}
