-- Names go into the index of texts in their composed form (NFC), as queries do: all are indexed anew by the
-- next search.
DELETE FROM node_text_state;
