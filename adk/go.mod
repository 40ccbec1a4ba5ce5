module github.com/hippocampus-memory/hippocampus/adk

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/google/uuid v1.6.0
	github.com/hippocampus-memory/hippocampus v0.0.0
	github.com/jackc/pgx/v5 v5.12.0
	github.com/stretchr/testify v1.11.1
	google.golang.org/adk/v2 v2.2.0
	google.golang.org/genai v1.67.0
)

replace github.com/hippocampus-memory/hippocampus => ../
