package db

// The types of a consolidation, as enqueue_consolidation knows them.
const (
	JobFastReplay        = "fast_replay"        // a summary, and episodes
	JobDeepReflection    = "deep_reflection"    // facts and insights
	JobFullConsolidation = "full_consolidation" // both
)
