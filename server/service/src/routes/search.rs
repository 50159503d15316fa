//! `/search`: files and folders by name and metadata, or by the words in everything written about them.

use crate::auth::Caller;
use crate::error::{Error, Result};
use crate::http::day::day_or_time;
use crate::http::extract::QueryParams;
use crate::http::page::Window;
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cairn_model::{Category, SearchMode};
use cairn_store::{Mode, Search};
use cairn_wire::Page;
use cairn_wire::nodes::Node;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Characters.
pub(crate) const MIN_QUERY: usize = 2;
/// Bytes.
pub(crate) const MAX_QUERY: usize = 255;
/// The categories that a name can suggest; folders are one of their own here.
pub(crate) const CATEGORIES: [Category; 7] = [
    Category::Image,
    Category::Video,
    Category::Audio,
    Category::Document,
    Category::Archive,
    Category::Other,
    Category::Folder,
];

pub(crate) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(search))
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct SearchQuery {
    /// 2 characters to 255 bytes; the first 16 different words count.
    #[param(value_type = String, required = true)]
    query: Option<String>,
    /// `quick` (default): a part of a name, description, tag or label. `filtered`: the same. `content`: words, or their
    /// beginnings, in all of these and in comments, the best match first; what is in the files is sealed and never
    /// searched here.
    #[param(value_type = Option<String>)]
    mode: Option<SearchMode>,
    /// `image`, `video`, `audio`, `document`, `archive`, `folder` or `other`. This and the filters below narrow a search in
    /// every mode, `quick` included.
    category: Option<String>,
    /// The end of the name, such as `pdf`; with or without its dot, in whatever case.
    ext: Option<String>,
    /// Created from this time on; a day alone, such as `2026-01-31`, begins at midnight UTC.
    #[param(value_type = Option<String>, format = DateTime)]
    date_from: Option<String>,
    /// Created up to this time; a day alone is meant to its end.
    #[param(value_type = Option<String>, format = DateTime)]
    date_to: Option<String>,
    /// Also in the spaces of the caller's teams.
    include_teams: Option<bool>,
    page: Option<u64>,
    page_size: Option<u64>,
}

/// Reads a category.
fn category(text: &str) -> Result<Category> {
    text.parse().map_err(|_| {
        Error::invalid(format!(
            "`category` is `{text}`; it has to be {}",
            CATEGORIES.map(Category::as_str).join(", ")
        ))
    })
}

/// Finds active nodes.
#[utoipa::path(
    get, path = "/api/v1/search", tag = "search", params(SearchQuery),
    responses(
        (status = 200, description = "One page", body = Page<Node>),
        (status = 400, description = "The query is too short, or a filter is none")
    )
)]
async fn search(
    caller: Caller,
    State(app): State<AppState>,
    QueryParams(query): QueryParams<SearchQuery>,
) -> Result<Json<Page<Node>>> {
    let window = Window::new(query.page, query.page_size)?;
    let text = query.query.unwrap_or_default();
    if text.trim().chars().count() < MIN_QUERY || text.len() > MAX_QUERY {
        return Err(Error::invalid(format!(
            "`query` has to have {MIN_QUERY} characters to {MAX_QUERY} bytes"
        )));
    }
    if text.contains(char::is_control) {
        return Err(Error::invalid("`query` holds a control character"));
    }
    let search = Search {
        text,
        mode: match query.mode.unwrap_or_default() {
            SearchMode::Quick | SearchMode::Filtered => Mode::Parts,
            SearchMode::Content => Mode::Words,
        },
        category: query.category.as_deref().map(category).transpose()?,
        extension: query
            .ext
            .map(|ext| ext.trim_start_matches('.').to_lowercase()),
        from: day_or_time("date_from", query.date_from.as_deref(), false)?,
        to: day_or_time("date_to", query.date_to.as_deref(), true)?,
    };
    let spaces = app.store.searched_spaces(
        caller.account,
        caller.space,
        query.include_teams.unwrap_or(false),
    )?;
    let found = app
        .store
        .search(&spaces, &search, window.skip(), window.take())?;
    Ok(Json(window.envelope(found)))
}
