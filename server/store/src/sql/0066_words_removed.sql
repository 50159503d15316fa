-- The index of texts is made anew, with the setting by which a word goes from it with the text: without that it stays
-- in the index until parts of it are merged. All texts are indexed by the next search.
DROP TABLE node_text;
CREATE VIRTUAL TABLE node_text USING fts5 (
    name, description, labels, tags, comments,
    tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
INSERT INTO node_text (node_text, rank) VALUES ('secure-delete', 1);
DELETE FROM node_text_state;
