-- Is more than half of the file free?
-- Parameters: how many free bytes are worth a word.
-- Columns: nothing, nothing, free bytes, all bytes.
-- Index: none, it asks the file's head.
select '', '', f.freelist_count * s.page_size, c.page_count * s.page_size
from pragma_freelist_count as f, pragma_page_count as c, pragma_page_size as s
where f.freelist_count * s.page_size > $1 and f.freelist_count * 2 > c.page_count
