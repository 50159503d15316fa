//! The place of what comes out of the trash: to be shown before, and noted after.

use crate::app::App;
use crate::failure::{CommandResult, Context as _};
use crate::output::text::clean;
use crate::remote::Remote;
use cairn_space::LostPlace;
use cairn_wire::nodes::Node;

impl Remote {
    /// Returns the path that [`Remote::restore_node`] gives to a node, and the reason why that is not the former one if
    /// its folder is lost.
    pub(crate) async fn path_back(
        &self,
        trashed: &Node,
    ) -> CommandResult<(String, Option<LostPlace>)> {
        let finding = format!("find the folder of {}", trashed.name);
        let place = self.space.place_back(trashed).await.context(&finding)?;
        let name = self.space.name_back(trashed, &place).await;
        let name = name.context(&finding)?;
        let mut path = match place.above {
            Some(above) => {
                let above = self.space.node(above).await.context(&finding)?;
                self.path_of(&above, &mut Default::default()).await?
            }
            None => String::new(),
        };
        for part in place.made.iter().map(|folder| &folder.name).chain([&name]) {
            path.push('/');
            path.push_str(part.as_str());
        }
        Ok((path, place.lost))
    }

    /// Notes which folders were made for what came out of the trash, or that it could not come back to its own. Returns
    /// the paths of these folders.
    pub(crate) async fn note_place(
        &self,
        app: &App,
        trashed: &Node,
        restored: &Node,
        made: &[Node],
    ) -> CommandResult<Vec<String>> {
        let mut paths = Vec::with_capacity(made.len());
        for folder in made {
            let path = self.path_of(folder, &mut Default::default()).await?;
            app.out.note(format_args!(
                "The folder {} was made for it: what else was in the one of before stays in the trash.",
                clean(&path)
            ));
            paths.push(path);
        }
        if trashed.parent_id.is_some() && restored.parent_id.is_none() {
            app.out.note(
                "It is at the top: the folder that it was in was deleted for good, or its name is in use.",
            );
        }
        Ok(paths)
    }
}
